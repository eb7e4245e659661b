package main

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// reconciled measures sides that never met and differ.
func (l *lab) reconciled() error {
	for _, c := range []cost{
		{D: 1, Layout: "none", Aim: aim{Bytes: 3000, CPUms: 2}},
		{D: 100, Layout: "scattered", Aim: aim{Bytes: 90_000, CPUms: 50}},
		{D: 100, Layout: "clustered", Aim: aim{Bytes: 10_000, CPUms: 5}},
		{D: 10_000, Layout: "scattered", Aim: aim{Bytes: 3_000_000, CPUms: 2000}},
		{D: 10_000, Layout: "clustered", Aim: aim{Bytes: 500_000, CPUms: 300}},
	} {
		for _, kind := range []string{"missing", "changed"} {
			c.Kind, c.N = kind, l.n
			c.Case = fmt.Sprintf("%d %s, %s", c.D, c.Kind, c.Layout)
			if c.D == 1 {
				c.Case = fmt.Sprintf("1 %s, by reconcile", c.Kind)
			}
			if !l.wanted(c.Case) || c.D > l.n/2 {
				continue
			}
			if err := l.reconcile(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcile measures one such case, a few times when it is short.
func (l *lab) reconcile(c cost) error {
	times := 3
	if c.D > 1000 {
		times = 1
	}
	aimed := c
	for i := range times {
		a, b, err := l.alike()
		if err != nil {
			return err
		}
		bytes, err := l.diverge(a, c)
		if err != nil {
			return err
		}
		other := c.Negentropy
		if i == 0 {
			found, err := negentropyOf(b, a)
			if err != nil {
				return err
			}
			other = &found
		}
		x, err := newExchange(l.corpus, a, b)
		if err != nil {
			return err
		}
		aimed.N, aimed.RawBytes = int(x.count(0)), bytes
		aimed.PlainBytes = 32 * (x.count(0) + x.count(1))
		x.connect()
		once, err := x.measure(aimed)
		if err = errors.Join(err, x.close()); err != nil {
			return err
		}
		c = once.average(c, i)
		c.Negentropy = other
	}
	return l.report(c)
}

// diverge gives a store what a case wants it to have more.
func (l *lab) diverge(st *store.Store, c cost) (bytes int64, err error) {
	if c.Kind == "changed" {
		return l.change(st, c.D, c.Layout == "clustered")
	}
	return put(st, c.D, func(i int) (merge.Record, error) {
		if c.Layout == "clustered" {
			return l.corpus.first(clustered(i, l.n))
		}
		return l.corpus.first(scattered(i))
	})
}

// change gives a store newer versions of d of its items: of those in the
// middle, or of any.
func (l *lab) change(st *store.Store, d int, clustered bool) (bytes int64, err error) {
	if clustered {
		return put(st, d, func(i int) (merge.Record, error) { return l.corpus.second(spread(l.n/2+i, l.n)) })
	}
	order := rand.New(rand.NewPCG(3, 3)).Perm(l.n)
	return put(st, d, func(i int) (merge.Record, error) { return l.corpus.second(spread(order[i], l.n)) })
}
