package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// joinRecords is how much an empty node fetches.
const joinRecords = 50_000

// joined is how fast new members fetched everything.
type joined struct {
	rows     speed // a single pipe over the same records that stores one row of each
	pipe     speed // one that stores them in a store like a node's
	one, two speed // from one member, from two at once; from the first page on
	// whole is one in records a second from the start of the node; first is until
	// its first page was stored.
	whole float64
	first time.Duration
}

// speed is how records moved: how many a second, and what all of them took of
// the processors of both ends.
type speed struct {
	rate float64
	cpu  time.Duration
}

// join measures new members that fetch everything over loopback, every
// signature checked and every page synced, beside a single pipe that does.
func join(dir string) ([]row, error) {
	j, err := joinNodes(dir, joinRecords)
	if err != nil {
		return nil, err
	}
	return []row{
		{name: "a single pipe, signatures checked in batches, to bare rows", value: j.rows.rate, unit: "records/s"},
		{name: "the same to a store", value: j.pipe.rate, unit: "records/s", ratio: j.pipe.rate / j.rows.rate, versus: "bare rows"},
		{name: fmt.Sprintf("cold join of %d records of 1 KB, from the first page on", joinRecords), value: j.one.rate, unit: "records/s", ratio: j.one.rate / j.pipe.rate, versus: "the pipe"},
		{name: "the same from two members", value: j.two.rate, unit: "records/s", ratio: j.two.rate / j.pipe.rate, versus: "the pipe"},
		{name: "from one, start of the node and connecting included", value: j.whole, unit: "records/s"},
		{name: "start of the node until its first page is stored", value: float64(j.first.Milliseconds()), unit: "ms"},
	}, nil
}

// joinNodes lets two members join one after the other: the first finds one
// with n records, the second two.
func joinNodes(dir string, n int) (j joined, err error) {
	ctx := context.Background()
	a, err := founder(ctx, dir)
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, a.end()) }()
	if _, err := a.fill(ctx, n); err != nil {
		return j, err
	}
	if j.rows, err = pipeToRows(dir, a.Store()); err != nil {
		return j, err
	}
	if j.pipe, err = pipeToStore(dir, a.Store()); err != nil {
		return j, err
	}
	b, began, err := newMember(ctx, a, dir, "b")
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if j.one, j.first, err = b.fetches(began, n); err != nil {
		return j, err
	}
	j.whole = float64(n) / time.Since(began).Seconds()
	c, began, err := newMember(ctx, a, dir, "c")
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	j.two, _, err = c.fetches(began, n)
	return j, err
}

// newMember makes a member of a's fleet and starts it.
func newMember(ctx context.Context, a *running, dir, name string) (r *running, began time.Time, err error) {
	dir, err = joiner(ctx, a, dir, name)
	if err != nil {
		return nil, began, err
	}
	began = time.Now()
	r, err = start(ctx, dir)
	return r, began, err
}

// fetches waits until a new member holds n records and returns how fast they
// came, and how long after its start the first did.
func (r *running) fetches(began time.Time, n int) (s speed, first time.Duration, err error) {
	if err := r.await(1); err != nil {
		return s, 0, err
	}
	first = time.Since(began)
	cpu := cpuTime()
	if err := r.await(n); err != nil {
		return s, 0, err
	}
	return speed{rate: float64(n) / (time.Since(began) - first).Seconds(), cpu: cpuTime() - cpu}, first, nil
}
