package simulation

import (
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// How hostile members compare by ranges: they state what is not so, divide
// without end, list what is not there, and ask for as much as a message takes.

const (
	modeSkip    = 0
	modeCompare = 1
	modeList    = 2

	spansMax   = 4096
	itemsMax   = 2048
	tagBytes   = 6
	printBytes = 8
)

// forgeRanges changes an answer about ranges.
func (a *adversary) forgeRanges(m *fleetsync.ReconAnswer) {
	switch a.dice.IntN(10) {
	case 0:
		m.ID = a.number(m.ID)
	case 1:
		m.Head = a.number(m.Head)
	case 2:
		m.Incarnation = a.number(m.Incarnation)
	case 3: // it goes backwards, where it has more than one
		slices.Reverse(m.Spans)
	case 4: // it ends elsewhere, with what was asked or beyond it
		last := &m.Spans[len(m.Spans)-1]
		last.Shared, last.Rest = 0, pick(a.dice, nil, a.bytes(9), []byte("zzz"))
	case 5: // nothing differs, it says
		m.Spans, m.Items, m.Writers = []fleetsync.ReconSpan{{Mode: modeSkip}}, nil, nil
	case 6:
		a.misstate(m)
	case 7: // it hides behind tags of others
		for i := range m.Items {
			m.Items[i].Tag = m.Items[a.dice.IntN(len(m.Items))].Tag
		}
	case 8:
		a.listMadeUp(m, a.dice.between(1, 5))
	default:
		a.listMadeUp(m, itemsMax-len(m.Items))
	}
}

// misstate claims other counts and prints of what is held.
func (a *adversary) misstate(m *fleetsync.ReconAnswer) {
	for i := range m.Spans {
		if s := &m.Spans[i]; a.dice.chance(0.5) {
			s.Mode, s.Count, s.Print = modeCompare, a.number(s.Count), a.bytes(printBytes)
		}
	}
}

// listMadeUp lists versions that nobody has written, of keys that may be
// somebody's.
func (a *adversary) listMadeUp(m *fleetsync.ReconAnswer, count int) {
	m.Writers = append(m.Writers, a.replica.ID())
	for range count {
		a.serial++
		key := merge.Key{Kind: pick(a.dice, "memory", "skill", "fleet"), ID: merge.NewID("z" + number(a.serial))}
		if a.dice.chance(0.1) {
			key = targetOf(a.dice.IntN(12)).key()
		}
		m.Items = append(m.Items, fleetsync.ReconItem{
			Rest: []byte(key.Order()), Writer: uint64(a.dice.IntN(len(m.Writers))),
			Stamp: pick(a.dice, 1, hlc.Timestamp{Wall: a.replica.Now().UnixMilli()}.Pack(), hlc.Timestamp{Wall: 1<<47 - 1}.Pack()),
			Tag:   a.bytes(tagBytes),
		})
	}
	if len(m.Items) == 0 { // there was no room for any
		m.Writers = nil
	}
}

// endlessRanges divides what was asked once more, and says of each part that
// much of it differs.
func (a *adversary) endlessRanges(m *fleetsync.ReconAnswer) {
	for i := range m.Spans {
		m.Spans[i].Mode, m.Spans[i].Count, m.Spans[i].Print = modeCompare, 1000+a.dice.Uint64N(1000), a.bytes(printBytes)
	}
	m.Items, m.Writers = nil, nil
}

// forgeQuestion changes a question about ranges.
func (a *adversary) forgeQuestion(m *fleetsync.Recon) {
	switch a.dice.IntN(6) {
	case 0:
		m.Section = a.someSection().ID()
	case 1:
		m.After = a.bytes(9)
	case 2:
		slices.Reverse(m.Spans)
	case 3:
		m.Exact = !m.Exact
	case 4:
		*m = *a.broadQuestion(m.ID, m.Section, spansMax)
	default:
		for i := range m.Spans {
			s := &m.Spans[i]
			s.Mode, s.Count, s.Print = uint8(pick(a.dice, modeCompare, modeList)), a.number(s.Count), a.bytes(4*printBytes*tagBytes)
			if s.Mode == modeCompare {
				s.Print = s.Print[:printBytes]
			}
		}
	}
}

// broadQuestion asks of very many spans, each of which differs or is to be
// listed.
func (a *adversary) broadQuestion(id uint64, section string, spans int) *fleetsync.Recon {
	m := &fleetsync.Recon{ID: id, Section: section, Salt: a.bytes(8), Exact: a.dice.chance(0.3)}
	for i := range spans - 1 {
		m.Spans = append(m.Spans, fleetsync.ReconSpan{
			Rest: fmt.Appendf(nil, "memory\x00%06d", i), Mode: modeCompare, Count: 1, Print: make([]byte, printBytes),
		})
	}
	m.Spans = append(m.Spans, fleetsync.ReconSpan{Mode: modeList})
	return m
}

// broadGet asks for versions of a whole section by tags of which it has none.
func (a *adversary) broadGet(id uint64, section string) *fleetsync.Get {
	return &fleetsync.Get{ID: id, Section: section, Refs: []fleetsync.Ref{}, Salt: a.bytes(8), Tags: a.bytes(itemsMax * tagBytes)}
}
