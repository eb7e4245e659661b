package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// heartbeats measures two sides that are equal.
func (l *lab) heartbeats() error {
	const beats = 1000
	for _, sections := range []int{1, 100} {
		c := cost{Case: fmt.Sprintf("equal, heartbeat, a section of %d", sections), N: sections, Layout: "none"}
		if sections > 1 {
			c.Aim = aim{Bytes: 60, CPUms: 0.020}
		}
		if !l.wanted(c.Case) {
			continue
		}
		x, err := l.equals(sections)
		if err != nil {
			return err
		}
		x.forget()
		took, err := measured(func() error {
			for range beats {
				x.sides[0].engine.Probe()
				if err := x.carry(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		per := beats * sections
		c.Path, c.Bytes = x.sent.path(), x.sent.total().metadata/int64(per)
		c.RoundTrips = float64(x.waves) / 2 / beats
		c.CPUms = milliseconds(took.cpu) / float64(per)
		if err := errors.Join(l.report(c), x.close()); err != nil {
			return err
		}
	}
	return nil
}

// equals returns an exchange that has come to rest, over so many sections.
func (l *lab) equals(sections int) (*exchange, error) {
	engine := store.NewMemory()
	st, err := open(engine)
	if err != nil {
		return nil, err
	}
	_, err = put(st, sections, func(i int) (merge.Record, error) {
		it := spread(i, sections)
		it.project = strconv.Itoa(i)
		return l.corpus.first(it)
	})
	if err = errors.Join(err, st.Close()); err != nil {
		return nil, err
	}
	a, err := open(engine.Clone())
	if err != nil {
		return nil, err
	}
	b, err := open(engine.Clone())
	if err != nil {
		return nil, err
	}
	return l.introduce(a, b)
}

// lostByFeed measures one record that gossip did not bring, between sides that
// know each other.
func (l *lab) lostByFeed() error {
	const times = 20
	mean := cost{Case: "1 lost, by feed", N: l.n, D: 1, Kind: "missing", Layout: "none", Aim: aim{Bytes: 2000, CPUms: 1}}
	if !l.wanted(mean.Case) {
		return nil
	}
	x, err := l.met()
	if err != nil {
		return err
	}
	for i := range times {
		if _, err := put(x.sides[0].store, 1, func(int) (merge.Record, error) { return l.corpus.first(scattered(i)) }); err != nil {
			return err
		}
		x.sides[0].engine.Probe()
		once, err := x.measure(mean)
		if err != nil {
			return err
		}
		mean = once.average(mean, i)
	}
	return errors.Join(l.report(mean), x.close())
}

// average returns the mean of a measurement and of so many before it.
func (c cost) average(before cost, times int) cost {
	weigh := func(old, latest float64) float64 { return (old*float64(times) + latest) / float64(times+1) }
	c.CPUms, c.RecordsCPUms = weigh(before.CPUms, c.CPUms), weigh(before.RecordsCPUms, c.RecordsCPUms)
	c.MemMB, c.RecordsPerS = weigh(before.MemMB, c.MemMB), weigh(before.RecordsPerS, c.RecordsPerS)
	return c
}

// met returns an exchange between two sides that hold the same and know it.
func (l *lab) met() (*exchange, error) {
	a, b, err := l.alike()
	if err != nil {
		return nil, err
	}
	return l.introduce(a, b)
}

// introduce returns an exchange between two stores that have met.
func (l *lab) introduce(a, b *store.Store) (*exchange, error) {
	x, err := newExchange(l.corpus, a, b)
	if err != nil {
		return nil, err
	}
	x.connect()
	return x, x.settle()
}

// weeks measures a side that comes back after others have changed much.
func (l *lab) weeks() error {
	d := min(50_000, l.n/2)
	c := cost{Case: fmt.Sprintf("back after weeks, %d changed", d), N: l.n, D: d, Kind: "changed", Layout: "scattered", Aim: aim{Share: 0.5}}
	if !l.wanted(c.Case) {
		return nil
	}
	x, err := l.met()
	if err != nil {
		return err
	}
	x.disconnect(3 * 7 * 24 * time.Hour)
	if c.RawBytes, err = l.change(x.sides[0].store, d, false); err != nil {
		return err
	}
	x.connect()
	if c, err = x.measure(c); err != nil {
		return err
	}
	return errors.Join(l.report(c), x.close())
}
