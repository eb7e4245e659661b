package store

import (
	"context"
	"slices"
	"sync"
)

// applier orders the writers of a store into transactions. There is no
// goroutine and no timer: the caller at the head of the queue commits its own
// request and whatever was queued behind it meanwhile, then wakes the next
// head. So one sync serves all who waited for the one before.
type applier struct {
	mu    sync.Mutex // guards all following fields
	queue []*request
	busy  bool // somebody leads
}

// submit queues a request and returns when it was committed or refused. A
// context that ends before the request's turn withdraws it; after that the
// request runs to its end. Errors: the request's own, that of ctx.
func (s *Store) submit(ctx context.Context, req *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if !s.applier.push(req) {
		select {
		case <-req.turn:
		case <-ctx.Done():
			if s.applier.withdraw(req) {
				return ctx.Err()
			}
			<-req.turn
		}
		if req.finished {
			return req.err
		}
	}
	s.lead(req)
	return req.err
}

// push queues a request and reports whether its caller leads.
func (a *applier) push(req *request) (leads bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, req)
	leads = !a.busy
	a.busy = true
	return leads
}

// withdraw takes a request out of the queue; it reports false when the request
// is being committed, or was given the lead.
func (a *applier) withdraw(req *request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.queue, req)
	if i < 0 || len(req.turn) > 0 {
		return false
	}
	a.queue = slices.Delete(a.queue, i, i+1)
	return true
}

// take removes the leader, who heads the queue, and those behind it who fit
// into one transaction with it. Some run alone.
func (a *applier) take(leader *request) []*request {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, records, bytes := 1, leader.records(), leader.bytes()
	for !leader.alone() && n < len(a.queue) {
		next := a.queue[n]
		records += next.records()
		bytes += next.bytes()
		if next.alone() || records > txnRecordsMax || bytes > txnBytesMax {
			break
		}
		n++
	}
	group := slices.Clone(a.queue[:n])
	a.queue = slices.Delete(a.queue, 0, n)
	return group
}

// pass gives the lead to the next in the queue.
func (a *applier) pass() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		a.busy = false
		return
	}
	a.queue[0].turn <- struct{}{}
}

// lead commits one group that begins with the leader's request. The lead is
// passed on even when a callback panics.
func (s *Store) lead(leader *request) {
	defer s.applier.pass()
	group := s.applier.take(leader)
	fail(group, errAborted)
	defer func() {
		for _, req := range group[1:] {
			req.finished = true
			req.turn <- struct{}{}
		}
	}()
	if !s.carryOut(leader, group) {
		return
	}
	if s.cfg.OnCommit == nil {
		return
	}
	for _, req := range group {
		if req.err == nil && len(req.commit.Records)+len(req.commit.Covered) > 0 {
			s.cfg.OnCommit(req.commit)
		}
	}
}

// carryOut commits a group, while no digest is being built. It reports false
// when there was nothing to commit.
func (s *Store) carryOut(leader *request, group []*request) (committed bool) {
	s.digests.building.Lock()
	defer s.digests.building.Unlock()
	if leader.prepare != nil {
		if leader.err = leader.prepare(); leader.err != nil || leader.empty() {
			return false
		}
	}
	s.commit(group)
	return true
}
