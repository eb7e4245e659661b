package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

const (
	// corpusBegin is when the first record was written, in milliseconds, and
	// corpusSpan over how long all of them were.
	corpusBegin = int64(1_780_000_000_000)
	corpusSpan  = 90 * 24 * time.Hour
	// corpusWriters is how many instances wrote them.
	corpusWriters = 10
	// corpusChunk is how many records are made before they are stored: memory
	// holds no more of them besides the store.
	corpusChunk = 4096
)

// corpus makes the signed memory items of a fleet, the same for the same
// numbers, so that none must be kept.
type corpus struct {
	fleet     merge.FleetID
	writers   []fleet.Identity
	authority *fleet.Authority
}

func newCorpus() (*corpus, error) {
	seed := rand.NewChaCha8([32]byte{1})
	root, err := fleet.NewIdentity(seed)
	if err != nil {
		return nil, err
	}
	c := &corpus{fleet: fleet.FleetIDOf(root.Public())}
	c.authority = fleet.NewAuthority(c.fleet)
	for i := range corpusWriters {
		writer, err := fleet.NewIdentity(seed)
		if err != nil {
			return nil, err
		}
		granted, err := fleet.SealGrant(c.fleet, root, fleet.Grant{
			Member: writer.ID(), Name: fmt.Sprintf("box-%d", i), Role: fleet.RoleAdmin,
		}, hlc.Timestamp{Wall: corpusBegin - 1000 + int64(i)})
		if err != nil {
			return nil, err
		}
		if _, err := c.authority.Learn(&granted); err != nil {
			return nil, err
		}
		c.writers = append(c.writers, writer)
	}
	return c, nil
}

// moment names one memory item by when it was created and, of those of one
// millisecond, which.
type moment struct {
	wall    int64
	serial  uint64
	project string
}

// spread returns item i of n that were written at even distances.
func spread(i, n int) moment {
	return moment{wall: corpusBegin + int64(i)*(corpusSpan.Milliseconds()/int64(n))}
}

// scattered returns item i of those that lie anywhere between the spread ones,
// and clustered of those that lie together between two of them.
func scattered(i int) moment {
	at := rand.New(rand.NewPCG(4, uint64(i)))
	return moment{wall: corpusBegin + at.Int64N(corpusSpan.Milliseconds()), serial: 1 + uint64(i)}
}

func clustered(i, n int) moment {
	return moment{wall: spread(n/2, n).wall + 1 + int64(i)%1000, serial: 1 + uint64(i)}
}

// rng returns a source of numbers that belongs to an item.
func (it moment) rng(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(it.wall)^purpose<<56, it.serial))
}

// key returns the item's key: a UUIDv7, as writers mint them.
func (it moment) key() merge.Key {
	rng := it.rng(0)
	high, low := uint64(it.wall)<<16|7<<12|rng.Uint64()&0xfff, rng.Uint64()&^(3<<62)|2<<62
	id := fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
	return merge.Key{Kind: "memory", Scope: merge.Scope{Project: it.project}, ID: merge.ID(id)}
}

// first returns the version of an item that its creator wrote.
func (c *corpus) first(it moment) (merge.Record, error) {
	writer := c.writers[it.rng(1).IntN(corpusWriters)]
	stamp := hlc.Timestamp{Wall: it.wall}
	return c.seal(it, writer, writer.ID(), stamp, merge.Basis{}.With(writer.ID(), stamp), 1)
}

// second returns the version that somebody wrote later, having seen the first.
func (c *corpus) second(it moment) (merge.Record, error) {
	before, err := c.first(it)
	if err != nil {
		return merge.Record{}, err
	}
	writer := c.writers[it.rng(2).IntN(corpusWriters)]
	stamp := hlc.Timestamp{Wall: corpusBegin + corpusSpan.Milliseconds() + it.wall%1000}
	basis, version := merge.Supersede([]merge.Version{before.Version()}, nil, writer.ID(), stamp)
	return c.seal(it, writer, before.Envelope.OriginInstanceID, stamp, basis, version)
}

func (c *corpus) seal(it moment, writer fleet.Identity, origin merge.InstanceID, stamp hlc.Timestamp, basis merge.Basis, version int64) (merge.Record, error) {
	body, err := merge.Marshal(string(textOf(it.rng(uint64(2+version)).IntN, valueBytes)))
	if err != nil {
		return merge.Record{}, err
	}
	return merge.Seal(merge.Record{
		Fleet: c.fleet, Key: it.key(), Basis: basis, Body: body,
		Envelope: merge.Envelope{SyncVersion: version, OriginInstanceID: origin, UpdatedHLC: stamp, LastWriterID: writer.ID()},
	}, merge.Ed25519, writer.Sign)
}

// put stores n records, each made by record, and returns their encoded size.
func put(st *store.Store, n int, record func(i int) (merge.Record, error)) (bytes int64, err error) {
	var size atomic.Int64
	for from := 0; from < n; from += corpusChunk {
		records := make([]merge.Record, min(corpusChunk, n-from))
		err := together(runtime.GOMAXPROCS(0), len(records), func(i int) (err error) {
			records[i], err = record(from + i)
			if err == nil {
				size.Add(int64(len(records[i].Encode())))
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		if _, err := st.Merge(context.Background(), store.Batch{Path: store.PathGossip, Records: records}); err != nil {
			return 0, err
		}
	}
	return size.Load(), nil
}

// Check implements fleetsync.Admission.
func (c *corpus) Check(r *merge.Record) error { return fleet.Check(r, c.fleet) }

// Judge implements store.Judge.
func (c *corpus) Judge(r *merge.Record) store.Reason { return store.Reason(c.authority.Judge(r).Cause) }

// JudgeVersion implements store.Judge.
func (c *corpus) JudgeVersion(k merge.Key, v merge.Version) (reason store.Reason, sure bool) {
	j, sure := c.authority.JudgeVersion(k, v)
	return store.Reason(j.Cause), sure
}

// Mark implements store.Judge.
func (c *corpus) Mark() [32]byte { return c.authority.Mark() }

// Learn implements fleetsync.Admission: the statements are known from the start.
func (*corpus) Learn(*merge.Record) bool { return false }
