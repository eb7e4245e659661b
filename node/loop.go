package node

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// input is one thing that happens to the engine.
type input func(e *fleetsync.Engine)

// loop is the one goroutine that owns the engine: it feeds it with what
// happens and carries out what it wants done. It never waits for others, so
// that they may wait for it.
type loop struct {
	engine    *fleetsync.Engine
	transport fleetsync.Transport
	verify    *signatures
	commits   *commitQueue
	committer *committer
	blame     func(fleetsync.Blame)
	// answer queues the answer to a request; false when that will not be sent.
	answer func(fleetsync.Answer) bool

	inputs  chan input
	ended   chan struct{} // closed once nothing is taken any more
	probes  []*probe      // of the goroutine alone
	silence silence       // likewise
}

// do hands an input to the engine, in order, and waits only while too many are
// waiting. Errors: that of ctx; ErrNotRunning once the loop has ended.
func (l *loop) do(ctx context.Context, in input) error {
	select {
	case l.inputs <- in:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ended:
		return ErrNotRunning
	}
}

// ask is do that waits until the input was taken. With an error it was not, and
// will not be: whatever it writes to belongs to the caller again. Errors: those of
// do.
func (l *loop) ask(ctx context.Context, in input) error {
	var claimed atomic.Bool // by the engine's goroutine, or by the end of ctx
	taken := make(chan struct{})
	err := l.do(ctx, func(e *fleetsync.Engine) {
		if claimed.CompareAndSwap(false, true) {
			in(e)
		}
		close(taken)
	})
	if err != nil {
		return err
	}
	select {
	case <-taken:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-l.ended:
		err = ErrNotRunning
	}
	if claimed.CompareAndSwap(false, true) {
		return err
	}
	<-taken // it is being taken just now, or was
	return nil
}

// Run drives the engine until ctx ends.
func (l *loop) Run(ctx context.Context) error {
	defer close(l.ended)
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		l.carryOut(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-l.commits.ready:
			l.local()
		case in := <-l.inputs:
			in(l.engine)
		}
		l.burst()
		l.engine.Tick(time.Now())
	}
}

// burst takes what waits already, up to a bound.
func (l *loop) burst() {
	for range burstMax {
		select {
		case <-l.commits.ready:
			l.local()
		case in := <-l.inputs:
			in(l.engine)
		default:
			return
		}
	}
}

// local gives the engine the commits of this node's own callers: all that wait
// as one, so that a burst of writes makes few messages.
func (l *loop) local() {
	all := store.Commit{Path: store.PathLocal}
	for _, c := range l.commits.take() {
		all.Records = append(all.Records, c.Records...)
	}
	if len(all.Records) > 0 {
		l.engine.Local(all)
	}
}

// carryOut empties the outbox of the engine.
func (l *loop) carryOut(ctx context.Context) {
	out := l.engine.Drain()
	for _, b := range out.Verify {
		l.verify.submit(b.Records, func(ok []bool) {
			_ = l.do(ctx, func(e *fleetsync.Engine) { e.Verified(b, ok) })
		})
	}
	for _, b := range out.Apply {
		l.committer.submit(b)
	}
	for _, b := range out.Blame {
		l.blame(b)
	}
	l.noteProbes(out.Send)
	l.silence.asked(out.Send, time.Now())
	out.Flush(l.transport)
	for _, a := range out.Answer {
		if !l.answer(a) {
			l.engine.Answered(a, fleetsync.Reply{})
		}
	}
}

// applied takes the result of the committer.
func (l *loop) applied(ctx context.Context, b fleetsync.ApplyBatch, res store.Result, err error) {
	_ = l.do(ctx, func(e *fleetsync.Engine) { e.Applied(b.ID, res, err) })
}

// receive takes a message of a peer.
func (l *loop) receive(ctx context.Context, from merge.InstanceID, m fleetsync.Message) error {
	return l.do(ctx, func(e *fleetsync.Engine) {
		e.Receive(from, m)
		l.silence.heard(from)
		if beat, ok := m.(*fleetsync.Heartbeat); ok && len(beat.Echo) > 0 {
			l.answered(from, beat.Echo)
		}
	})
}

// probe waits for the answers to heartbeats that were sent after it began.
type probe struct {
	asked map[merge.InstanceID][][]byte // salts of those heartbeats
	skip  map[merge.InstanceID]bool     // not waited for
	heard map[merge.InstanceID]bool
	wait  int           // how many were asked and have not answered
	done  chan struct{} // closed when nobody is waited for
}

// probe compares heads with every peer now, and waits for all but those in
// skip, which may be nil. heard holds who answered before ctx ended, with its
// state.
func (l *loop) probe(ctx context.Context, skip map[merge.InstanceID]bool) (states []fleetsync.PeerState, heard map[merge.InstanceID]bool, err error) {
	p := &probe{asked: map[merge.InstanceID][][]byte{}, skip: skip, heard: map[merge.InstanceID]bool{}, done: make(chan struct{})}
	err = l.ask(ctx, func(e *fleetsync.Engine) {
		e.Tick(time.Now())
		l.carryOut(ctx) // so that what is sent next is the probe's
		l.probes = append(l.probes, p)
		e.Probe()
		l.carryOut(ctx)
		p.settle()
	})
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	// The answers that came count, also when ctx has ended.
	gather := context.WithoutCancel(ctx)
	gather, cancel := context.WithTimeout(gather, time.Second)
	defer cancel()
	err = l.ask(gather, func(e *fleetsync.Engine) {
		l.probes = slices.DeleteFunc(l.probes, func(q *probe) bool { return q == p })
		states, heard = e.Peers(), p.heard
	})
	return states, heard, err
}

// noteProbes remembers the heartbeats that probes wait for.
func (l *loop) noteProbes(sends []fleetsync.Send) {
	for _, p := range l.probes {
		for _, s := range sends {
			beat, ok := s.Message.(*fleetsync.Heartbeat)
			if !ok || len(beat.Echo) > 0 || p.heard[s.To] {
				continue
			}
			if p.asked[s.To] == nil && !p.skip[s.To] {
				p.wait++
			}
			p.asked[s.To] = append(p.asked[s.To], beat.Heads.Salt)
		}
	}
}

// answered notes an answer to a heartbeat.
func (l *loop) answered(from merge.InstanceID, salt []byte) {
	for _, p := range l.probes {
		open := slices.DeleteFunc(p.asked[from], func(s []byte) bool { return bytes.Equal(s, salt) })
		mine := len(open) < len(p.asked[from])
		p.asked[from] = open
		// One heartbeat speaks of some of the sections: only all answers tell
		// whether everything is equal.
		if mine && len(open) == 0 && !p.heard[from] {
			p.heard[from] = true
			if p.skip[from] {
				continue
			}
			p.wait--
			p.settle()
		}
	}
}

func (p *probe) settle() {
	if p.wait > 0 {
		return
	}
	select {
	case <-p.done:
	default:
		close(p.done)
	}
}
