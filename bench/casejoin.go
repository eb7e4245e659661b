package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// coldJoin measures an empty side that fetches everything, both over badger,
// and opening what it stored.
func (l *lab) coldJoin() error {
	c := cost{Case: fmt.Sprintf("cold join of %d", l.n), N: l.n, D: l.n, Kind: "missing", Layout: "none", Aim: aim{Share: 0.5}}
	if !l.wanted(c.Case) {
		return nil
	}
	source, dir := filepath.Join(l.dir, "source"), filepath.Join(l.dir, "joiner")
	a, err := openDisk(source, true)
	if err != nil {
		return err
	}
	if c.RawBytes, err = put(a, l.n, func(i int) (merge.Record, error) { return l.corpus.first(spread(i, l.n)) }); err != nil {
		return err
	}
	b, err := openDisk(dir, false)
	if err != nil {
		return err
	}
	x, err := newExchange(l.corpus, a, b)
	if err != nil {
		return err
	}
	x.connect()
	if c, err = x.measure(c); err != nil {
		return err
	}
	if err := errors.Join(l.report(c), x.close()); err != nil {
		return err
	}
	err = l.opened(fmt.Sprintf("open %d in badger", l.n), func() (*store.Store, error) { return openDisk(dir, false) })
	return errors.Join(err, os.RemoveAll(source), os.RemoveAll(dir))
}

// nodesJoin measures new members of a fleet of real nodes, beside a single pipe.
func (l *lab) nodesJoin() error {
	n := min(l.n, joinRecords)
	if l.n >= 1_000_000 {
		n = l.n
	}
	c := cost{N: n, D: n, Kind: "missing", Layout: "none"}
	of := fmt.Sprintf("nodes join, %d over loopback", n)
	if !l.wanted(of) {
		return nil
	}
	dir, err := os.MkdirTemp(l.dir, "nodes-")
	if err != nil {
		return err
	}
	j, err := joinNodes(dir, n)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name string
		speed
		aim aim
	}{
		{of + ", pipe to bare rows", j.rows, aim{}},
		{of + ", pipe to a store", j.pipe, aim{}},
		{of + ", from 1", j.one, aim{Ratio: 0.9}},
		{of + ", from 2", j.two, aim{Ratio: 0.9}},
	} {
		c.Case, c.RecordsPerS, c.CPUms, c.Ratio, c.Aim = r.name, r.rate, milliseconds(r.cpu), r.rate/j.pipe.rate, r.aim
		if err := l.report(c); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// openDisk opens a store in badger; a relaxed one is not synced.
func openDisk(dir string, relaxed bool) (*store.Store, error) {
	engine, err := store.OpenBadger(dir, store.BadgerOptions{Relaxed: relaxed})
	if err != nil {
		return nil, err
	}
	return open(engine)
}

// opening measures what rebuilds the digest: the opening of a store.
func (l *lab) opening() error {
	name := fmt.Sprintf("open %d in memory", l.n)
	if !l.wanted(name) {
		return nil
	}
	base, err := l.holding()
	if err != nil {
		return err
	}
	return l.opened(name, func() (*store.Store, error) { return open(base.Clone()) })
}

func (l *lab) opened(name string, open func() (*store.Store, error)) error {
	var st *store.Store
	took, err := measured(func() (err error) {
		st, err = open()
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(l.report(cost{
		Case: name, N: l.n, Layout: "none", CPUms: milliseconds(took.cpu), MemMB: float64(took.heap) / (1 << 20),
		RecordsPerS: float64(l.n) / took.wall.Seconds(), Aim: aim{CPUms: float64(l.n) / 1000},
	}), st.Close())
}
