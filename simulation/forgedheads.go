package simulation

import (
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func (a *adversary) alterHello(m *fleetsync.Hello) Fault {
	fault := a.alterHeads(&m.Heads)
	if fault == FaultForgedHeads {
		switch a.dice.IntN(6) {
		case 0:
			m.Incarnation = a.number(m.Incarnation)
		case 1:
			m.Store[a.dice.IntN(len(m.Store))]++
		case 2:
			m.Fleet[a.dice.IntN(len(m.Fleet))]++
		}
	}
	return fault
}

func (a *adversary) alterHeartbeat(m *fleetsync.Heartbeat) Fault {
	fault := a.alterHeads(&m.Heads)
	if fault == FaultForgedHeads {
		switch a.dice.IntN(6) {
		case 0:
			m.Incarnation = a.number(m.Incarnation)
		case 1:
			m.Echo = a.bytes(8)
		case 2:
			m.Echo = nil
		}
	}
	return fault
}

func (a *adversary) alterHeads(h *fleetsync.Heads) Fault {
	if count, lies := a.active(ActClaim); lies {
		a.claim(h, count)
		return FaultClaim
	}
	if !a.now(ActForgeHeads) {
		return ""
	}
	for range a.dice.between(1, 3) {
		a.forgeHeads(h)
	}
	return FaultForgedHeads
}

// claim lists sections that nobody has ever written to.
func (a *adversary) claim(h *fleetsync.Heads, count int) {
	const sectionsMax = 1024
	for range min(count, sectionsMax-len(h.Sections)) {
		a.serial++
		h.Sections = append(h.Sections, fleetsync.SectionHead{
			Section: a.madeUpSection(a.serial % (4 * count)), Head: a.dice.Uint64(), Count: 1 + a.dice.Uint64()%1000, Root: a.bytes(16),
		})
	}
}

func (a *adversary) madeUpSection(n int) string {
	return merge.Section{Family: "claim", Scope: merge.Scope{Project: "p" + string(rune('a'+n%26)), Workspace: number(n)}}.ID()
}

func (a *adversary) forgeHeads(h *fleetsync.Heads) {
	switch a.dice.IntN(8) {
	case 0:
		h.Clock = pick(a.dice, 1, hlc.Timestamp{Wall: 1<<47 - 1}.Pack(), h.Clock)
	case 1:
		h.Withheld = []string{pick(a.dice, "fleet", "skill", "memory")}
		h.WithheldSections = []string{a.someSection().ID()}
	case 2:
		h.After, h.To = pick(a.dice, "", "memory", "skill\x1f\x1f\x1f"), pick(a.dice, "", "memory", "zz")
	case 3:
		h.Sections = append(h.Sections, fleetsync.SectionHead{
			Section: a.someSection().ID(), Head: a.dice.Uint64(), Count: a.dice.Uint64(), Root: a.bytes(16),
		})
	case 4:
		if len(h.Sections) > 0 {
			at := a.dice.IntN(len(h.Sections))
			h.Sections = slices.Delete(h.Sections, at, at+1)
		}
	default:
		if len(h.Sections) == 0 {
			return
		}
		s := &h.Sections[a.dice.IntN(len(h.Sections))]
		switch a.dice.IntN(4) {
		case 0:
			s.Head = a.number(s.Head)
		case 1:
			s.Count = a.number(s.Count)
		case 2:
			s.Root = a.bytes(16)
		default:
			s.Root = nil
		}
	}
}

func (a *adversary) forgeRequest(m fleetsync.Message) {
	switch m := m.(type) {
	case *fleetsync.Changes:
		switch a.dice.IntN(4) {
		case 0:
			m.Incarnation = a.number(m.Incarnation)
		case 1:
			m.After = a.number(m.After)
		case 2:
			m.Section = a.someSection().ID()
		default:
			m.Inline = !m.Inline
		}
	case *fleetsync.Get:
		switch a.dice.IntN(4) {
		case 0:
			m.Section = a.someSection().ID()
		case 1:
			*m = *a.broadGet(m.ID, m.Section)
		case 2:
			m.Refs = append(m.Refs, fleetsync.Ref{Order: a.bytes(12), Writer: a.replica.ID()})
		default:
			m.Refs = nil
		}
	case *fleetsync.PageReq:
		m.After = pick(a.dice, nil, a.bytes(9), []byte("memory\x00a\x00\x00b"), []byte("skill\x00zzz"))
	case *fleetsync.Recon:
		a.forgeQuestion(m)
	}
}
