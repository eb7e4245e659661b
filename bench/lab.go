package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// lab measures one case of convergence after the other, over the same records.
type lab struct {
	corpus *corpus
	n      int
	dir    string
	wanted func(name string) bool
	show   func(cost) error

	base *store.Memory // n first versions, made when first needed
}

func newLab(n int, dir string, wanted func(string) bool, show func(cost) error) (*lab, error) {
	c, err := newCorpus()
	return &lab{corpus: c, n: n, dir: dir, wanted: wanted, show: show}, err
}

// run measures every case. The joins come first, while nothing else fills the
// memory: their growth is that of the exchange.
func (l *lab) run() error {
	for _, part := range []func() error{l.coldJoin, l.nodesJoin, l.opening, l.heartbeats, l.lostByFeed, l.weeks, l.reconciled} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// report shows a case.
func (l *lab) report(c cost) error {
	c.judge()
	return l.show(c)
}

// open opens the store in an engine, long after the last record was written.
func open(engine store.Engine) (*store.Store, error) {
	now := time.UnixMilli(corpusBegin).Add(2 * corpusSpan)
	return store.Open(engine, store.Config{Now: func() time.Time { return now }, Rand: rand.Reader})
}

// holding returns an engine with the first n items.
func (l *lab) holding() (*store.Memory, error) {
	if l.base != nil {
		return l.base, nil
	}
	l.base = store.NewMemory()
	st, err := open(l.base)
	if err != nil {
		return nil, err
	}
	_, err = put(st, l.n, func(i int) (merge.Record, error) { return l.corpus.first(spread(i, l.n)) })
	return l.base, errors.Join(err, st.Close())
}

// alike returns two stores that hold the same and have never met.
func (l *lab) alike() (a, b *store.Store, err error) {
	base, err := l.holding()
	if err != nil {
		return nil, nil, err
	}
	if a, err = open(base.Clone()); err != nil {
		return nil, nil, err
	}
	b, err = open(base.Clone())
	return a, b, err
}

// measure settles an exchange and returns what it cost.
func (x *exchange) measure(c cost) (cost, error) {
	x.forget()
	took, err := measured(x.settle)
	if err != nil {
		return c, fmt.Errorf("%s: %w", c.Case, err)
	}
	all := x.sent.total()
	c.Path, c.Types = x.sent.path(), x.sent.metadata()
	c.Bytes, c.RecordBytes = all.metadata, all.records
	c.RoundTrips = float64(x.equalAt) / 2
	c.CPUms, c.RecordsCPUms = milliseconds(took.cpu), milliseconds(x.records)
	c.MemMB = float64(took.heap) / (1 << 20)
	if c.D > 0 {
		c.RecordsPerS = float64(c.D) / took.wall.Seconds()
		c.BoundBytes = boundBytes(c.N, c.D)
	}
	return c, nil
}
