package simulation

import (
	"errors"
	"math"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// alter returns what a hostile member says in the place of a message, and what
// that is; nothing when it says the truth.
func (a *adversary) alter(to int, m fleetsync.Message, frame []byte) (fleetsync.Message, Fault) {
	own, err := a.replica.cluster.codec.DecodeFrame(frame) // a copy
	if err != nil {
		return m, ""
	}
	switch m := own.(type) {
	case *fleetsync.Hello:
		return m, a.alterHello(m)
	case *fleetsync.HelloAck:
		return m, a.alterHello(&m.Hello)
	case *fleetsync.Heartbeat:
		return m, a.alterHeartbeat(m)
	case *fleetsync.Changes, *fleetsync.Get, *fleetsync.PageReq, *fleetsync.Recon:
		if a.now(ActForgeRequests) {
			a.forgeRequest(own)
			return own, FaultForgedRequest
		}
		return own, ""
	}
	return a.alterAnswer(to, own)
}

// alterAnswer changes an answer, and puts into it what it has to spread.
func (a *adversary) alterAnswer(to int, m fleetsync.Message) (fleetsync.Message, Fault) {
	if _, lies := a.active(ActEndless); lies {
		if endless := a.endless(to, m); endless != nil {
			return endless, FaultEndless
		}
	}
	if fault := a.load(to, m); fault != "" {
		return m, fault
	}
	if a.now(ActForgeRecords) {
		if records := recordsOf(m); records != nil && len(*records) > 0 {
			at := a.dice.IntN(len(*records))
			(*records)[at] = a.forgeRecord((*records)[at])
			restate(m)
			return m, FaultForgedRecord
		}
	}
	if content, is := m.(*fleetsync.Blob); is && a.now(ActForgeContents) {
		a.forgeContent(content)
		return m, FaultForgedContent
	}
	if a.now(ActForgeAnswers) {
		fault := FaultForgedAnswer
		if _, isOfRanges := m.(*fleetsync.ReconAnswer); isOfRanges {
			fault = FaultForgedRanges
		}
		return a.forgeAnswer(m), fault
	}
	return m, ""
}

// recordsOf returns the records of an answer, nil when it has none of them.
func recordsOf(m fleetsync.Message) *[][]byte {
	switch m := m.(type) {
	case *fleetsync.ChangesPage:
		return &m.Records
	case *fleetsync.Records:
		return &m.Records
	case *fleetsync.Page:
		return &m.Records
	}
	return nil
}

// restate makes the sum of a page true again.
func restate(m fleetsync.Message) {
	page, isPage := m.(*fleetsync.Page)
	if !isPage {
		return
	}
	var sum store.Sum
	for _, wire := range page.Records {
		if rec, err := merge.Decode(wire); err == nil || errors.Is(err, merge.ErrUnsupported) {
			sum = sum.Add(rec.Hash())
		}
	}
	total := sum.Bytes()
	page.Sum = total[:]
}

// load puts the records that a hostile member has made into an answer about
// their section.
func (a *adversary) load(to int, m fleetsync.Message) Fault {
	records := recordsOf(m)
	if records == nil {
		return ""
	}
	fault := Fault("")
	for _, c := range a.cargo[a.replica.asked[to].section] {
		if to%c.sides == c.side && a.dice.chance(0.5) {
			*records, fault = append(*records, c.wire), c.fault
		}
	}
	restate(m)
	return fault
}

// endless returns one of many pages without end in the place of an answer, nil
// for one that is no page.
func (a *adversary) endless(to int, m fleetsync.Message) fleetsync.Message {
	q := a.replica.asked[to]
	switch m := m.(type) {
	case *fleetsync.ChangesPage:
		m.Done, m.Next = false, q.after+1
		if len(m.Entries) > 1 {
			m.Entries = m.Entries[:1]
		}
		return m
	case *fleetsync.CursorInvalid: // it has gone on for long
		return &fleetsync.ChangesPage{ID: m.ID, Next: q.after + 1}
	case *fleetsync.Page:
		a.serial++
		key := merge.Key{Kind: q.section.Family, Scope: q.section.Scope, ID: merge.NewID("z" + number(1_000_000+a.serial))}
		m.Done, m.Last = false, []byte(key.Order()+"\x00\x00"+string(a.replica.ID()))
		return m
	case *fleetsync.ReconAnswer:
		a.endlessRanges(m)
		return m
	}
	return nil
}

func (a *adversary) forgeAnswer(m fleetsync.Message) fleetsync.Message {
	if a.dice.chance(0.15) {
		return a.insteadOf(m)
	}
	switch m := m.(type) {
	case *fleetsync.ChangesPage:
		a.forgeChanges(m)
	case *fleetsync.Page:
		a.forgePage(m)
	case *fleetsync.ReconAnswer:
		a.forgeRanges(m)
	case *fleetsync.Records:
		switch a.dice.IntN(3) {
		case 0:
			m.ID = a.number(m.ID)
		case 1:
			m.Answered = a.number(m.Answered) % 2048
		default:
			m.Records = m.Records[:a.dice.IntN(len(m.Records)+1)]
		}
	case *fleetsync.CursorInvalid:
		m.ID, m.End = a.number(m.ID), a.number(m.End)
	case *fleetsync.Busy:
		m.Retry = a.number(m.Retry)
	case *fleetsync.Error:
		m.Code, m.ID = a.dice.Uint64N(8), a.number(m.ID)
	}
	return m
}

// insteadOf refuses a request for no reason.
func (a *adversary) insteadOf(m fleetsync.Message) fleetsync.Message {
	id := uint64(0)
	switch m := m.(type) {
	case *fleetsync.ChangesPage:
		id = m.ID
	case *fleetsync.Page:
		id = m.ID
	case *fleetsync.Records:
		id = m.ID
	case *fleetsync.ReconAnswer:
		id = m.ID
	case *fleetsync.Blob:
		id = m.ID
	}
	return pick[fleetsync.Message](
		a.dice, &fleetsync.CursorInvalid{ID: id, Reason: "no"}, &fleetsync.Busy{ID: id, Retry: a.number(1000)},
		&fleetsync.Error{ID: id, Code: 1 + a.dice.Uint64N(6), Text: "no"},
	)
}

func (a *adversary) forgeChanges(m *fleetsync.ChangesPage) {
	switch a.dice.IntN(7) {
	case 0:
		m.ID = a.number(m.ID)
	case 1:
		m.Next = a.number(m.Next)
	case 2:
		m.Done = !m.Done
	case 3: // some are kept secret
		m.Entries, m.Records = m.Entries[:a.dice.IntN(len(m.Entries)+1)], m.Records[:a.dice.IntN(len(m.Records)+1)]
	case 4:
		m.Entries = append(m.Entries, m.Entries...)
	default:
		if len(m.Entries) > 0 {
			a.forgeEntry(&m.Entries[a.dice.IntN(len(m.Entries))])
		}
	}
}

func (a *adversary) forgeEntry(e *fleetsync.Entry) {
	switch a.dice.IntN(4) {
	case 0:
		e.Hash = a.bytes(len(e.Hash))
	case 1:
		e.Stamp = pick(a.dice, 1, math.MaxInt64, e.Stamp+1)
	case 2:
		e.Writer = a.replica.ID()
	default:
		e.Order = slices.Concat(e.Order, a.bytes(2))
	}
}

func (a *adversary) forgePage(m *fleetsync.Page) {
	switch a.dice.IntN(7) {
	case 0:
		m.ID = a.number(m.ID)
	case 1:
		m.Head = a.number(m.Head)
	case 2:
		m.Sum = a.bytes(len(m.Sum))
	case 3:
		m.Last = a.bytes(20)
	case 4:
		m.Done = len(m.Last) == 0 || !m.Done
	default:
		m.Records = m.Records[:a.dice.IntN(len(m.Records)+1)]
		restate(m)
	}
}
