package simulation

import (
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// observer watches what engines say and want done, for the trace and the
// coverage. It decides nothing.
type observer struct {
	trace    *Trace
	cover    *counter
	timeouts map[*process]uint64 // the newest counter seen of each process
	traffic  map[fleetsync.MessageType]Traffic
}

// Traffic is what was sent of one type of message.
type Traffic struct {
	Messages int
	Bytes    int64
}

func newObserver(t *Trace, c *counter) *observer {
	return &observer{trace: t, cover: c, timeouts: map[*process]uint64{}, traffic: map[fleetsync.MessageType]Traffic{}}
}

func (o *observer) sent(r *Replica, to int, m fleetsync.Message, frame []byte) {
	size := len(frame)
	r.note("> %d %s (%d bytes)", to, framed{m, frame}, size)
	t := o.traffic[m.Type()]
	o.traffic[m.Type()] = Traffic{Messages: t.Messages + 1, Bytes: t.Bytes + int64(size)}
	if n := r.process.engine.Counters().Timeouts; n > o.timeouts[r.process] {
		o.cover.Markers[SometimesTimeout] += int(n - o.timeouts[r.process])
		o.timeouts[r.process] = n
	}
}

func (o *observer) received(r *Replica, from int, m fleetsync.Message, frame []byte) {
	r.note("< %d %s", from, framed{m, frame})
	switch m := m.(type) {
	case *fleetsync.Hello:
		if len(m.Heads.Withheld) > 1 { // the session family always is
			o.cover.sometimes(SometimesWithheld)
		}
	case *fleetsync.HelloAck:
		if len(m.Heads.WithheldSections) > 0 {
			o.cover.sometimes(SometimesPartWithheld)
		}
	case *fleetsync.CursorInvalid:
		o.cover.sometimes(SometimesCursorInvalid)
	case *fleetsync.Busy:
		o.cover.sometimes(SometimesBusy)
	case *fleetsync.Recon:
		if len(m.Spans) > 1 {
			o.cover.sometimes(SometimesDivided)
		}
	case *fleetsync.ReconAnswer:
		if len(m.Items) > 0 {
			o.cover.sometimes(SometimesListed)
		}
	case *fleetsync.Page:
		o.cover.sometimes(SometimesPage)
	}
}

// applied notes what the store made of a batch.
func (o *observer) applied(r *Replica, b *fleetsync.ApplyBatch, res store.Result, err error) {
	switch {
	case err != nil:
		r.note("apply %d fails: %v", b.ID, err)
		return
	case b.Chunk != nil:
		r.note("apply %d: chunk of blob %x at %d of %d", b.ID, b.Chunk.Hash[:4], b.Chunk.Offset, b.Chunk.Size)
		return
	case b.Reconsider:
		r.note("reconsider %d: released %d, covered %d, still parked %d, taken away %d, given back %d", b.ID, res.Applied, res.Covered, res.Parked, res.Retracted, res.Restored)
		o.cover.Markers[SometimesReleased] += res.Applied + res.Covered
		return
	}
	r.note("apply %d by %s: %d records, %d to park; applied %d, covered %d, known %d, parked %d, refused %d%s",
		b.ID, b.Batch.Path, len(b.Batch.Records), len(b.Batch.Park),
		res.Applied, res.Covered, res.Known, res.Parked, res.Refused, moves(&b.Batch))
	for i := range min(res.Parked, len(b.Batch.Park)) {
		switch writer := b.Batch.Park[i].Record.Envelope.LastWriterID; {
		case r.cluster.byStranger(writer):
			o.cover.fault(FaultStranger)
		case r.cluster.numberOf(writer) >= 0:
			o.cover.fault(FaultLateGrant)
		}
	}
	o.cover.Markers[SometimesRefused] += res.Refused
	o.cover.Markers[SometimesParked] += res.Parked
	o.cover.Markers[SometimesParkedFuture] += max(res.Parked-len(b.Batch.Park), 0)
	o.countPath(&b.Batch, res)
}

func (o *observer) countPath(b *store.Batch, res store.Result) {
	empty := len(b.Records)+len(b.Park) == 0
	switch {
	case b.Path == store.PathGossip && res.Applied > 0:
		o.cover.sometimes(SometimesGossip)
	case b.Path == store.PathFeed && empty:
		o.cover.sometimes(SometimesFastForward)
	case b.Path == store.PathFeed:
		o.cover.sometimes(SometimesFeed)
	}
}

func moves(b *store.Batch) string {
	text := ""
	if b.Cursor != nil {
		text = ", cursor " + b.Cursor.Section.String()
	}
	return text
}

// framed is a message as traces take it: as its bytes, and in words for those
// who read along.
type framed struct {
	message fleetsync.Message
	frame   []byte
}

func (f framed) String() string               { return describe(f.message) }
func (f framed) appendNote(dst []byte) []byte { return appendNote(dst, f.frame) }

// describe is one message in a line of the trace.
func describe(m fleetsync.Message) string {
	switch m := m.(type) {
	case *fleetsync.Hello:
		return fmt.Sprintf("hello of %x with %s", m.Incarnation, describeHeads(&m.Heads))
	case *fleetsync.HelloAck:
		return fmt.Sprintf("hello back of %x with %s", m.Incarnation, describeHeads(&m.Heads))
	case *fleetsync.Heartbeat:
		if len(m.Echo) > 0 {
			return "heartbeat back, differing " + describeHeads(&m.Heads)
		}
		return "heartbeat " + describeHeads(&m.Heads)
	case *fleetsync.Changes:
		return fmt.Sprintf("changes %d of %s after %d inline %t", m.ID, sectionName(m.Section), m.After, m.Inline)
	case *fleetsync.ChangesPage:
		return fmt.Sprintf("changes page %d: %d entries, %d records, next %d, done %t", m.ID, len(m.Entries), len(m.Records), m.Next, m.Done)
	case *fleetsync.CursorInvalid:
		return fmt.Sprintf("cursor invalid %d: %s", m.ID, m.Reason)
	case *fleetsync.Get:
		return fmt.Sprintf("get %d: %d refs of %s", m.ID, len(m.Refs)+len(m.Tags)/tagBytes, sectionName(m.Section))
	case *fleetsync.Records:
		return fmt.Sprintf("records %d: %d answered, %d records", m.ID, m.Answered, len(m.Records))
	case *fleetsync.PageReq:
		return fmt.Sprintf("page request %d of %s after %q up to %q", m.ID, sectionName(m.Section), m.After, m.UpTo)
	case *fleetsync.Page:
		return fmt.Sprintf("page %d: %d records, head %d, done %t", m.ID, len(m.Records), m.Head, m.Done)
	case *fleetsync.Busy:
		return fmt.Sprintf("busy %d", m.ID)
	case *fleetsync.Error:
		return fmt.Sprintf("error %d: code %d %s", m.ID, m.Code, m.Text)
	}
	return describeRecon(m)
}

func describeRecon(m fleetsync.Message) string {
	switch m := m.(type) {
	case *fleetsync.Recon:
		return fmt.Sprintf("question %d about %d spans of %s after %q", m.ID, len(m.Spans), sectionName(m.Section), m.After)
	case *fleetsync.ReconAnswer:
		return fmt.Sprintf("answer %d: %d spans, %d items, as of %d", m.ID, len(m.Spans), len(m.Items), m.Head)
	}
	return fmt.Sprintf("message %d", m.Type())
}

func describeHeads(h *fleetsync.Heads) string {
	text := []byte("[")
	for i, s := range h.Sections {
		if i > 0 {
			text = append(text, "; "...)
		}
		text = fmt.Appendf(text, "%s: %d to %d", sectionName(s.Section), s.Count, s.Head)
	}
	return string(append(text, ']'))
}

func sectionName(id string) string {
	s, err := merge.ParseSectionID(id)
	if err != nil {
		return id
	}
	return s.String()
}
