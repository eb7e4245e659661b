package state

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/ids"
	"github.com/fleetsync/fleetd/store"
)

// Option configures NewMemory.
type Option func(*Config)

// WithClock sets the source of time, stamps included (default clock.System).
func WithClock(c clock.Clock) Option { return func(cfg *Config) { cfg.Clock = c } }

// WithIDGenerator sets the source of ids (default UUIDv7 by the clock and
// crypto/rand).
func WithIDGenerator(g *ids.Generator) Option { return func(cfg *Config) { cfg.IDs = g } }

// WithInstanceID sets who writes (default "local"): text of 1 to 128 bytes
// without control characters.
func WithInstanceID(id string) Option { return func(cfg *Config) { cfg.InstanceID = id } }

// WithScope sets the home scope (default global): where looking up a slug
// begins.
func WithScope(s Scope) Option { return func(cfg *Config) { cfg.Scope = s } }

// WithEventLog sends the events to a log of the caller's: append, then apply. A
// write whose event cannot be appended leaves nothing. The default is the stream
// that the provider's own store keeps, which Replica.Log shows. NewMemory begins
// empty whatever the log holds: one that has events is for Replay, and one log is
// for one provider at a time.
func WithEventLog(l eventlog.Log) Option { return func(cfg *Config) { cfg.log = l } }

// WithSnapshotCodec sets Config.SnapshotCodec.
func WithSnapshotCodec(c eventlog.SnapshotCodec) Option {
	return func(cfg *Config) { cfg.SnapshotCodec = c }
}

// WithSnapshotEvery sets Config.SnapshotEvery; zero and less is never.
func WithSnapshotEvery(k int) Option { return func(cfg *Config) { cfg.SnapshotEvery = k } }

// WithUpcasters sets what Replay and Fold bring old payloads up to date with.
func WithUpcasters(u eventlog.Upcasters) Option { return func(cfg *Config) { cfg.upcasters = u } }

// NewMemory returns an empty Provider that lives in memory: unsigned records,
// no key, no files, no set-up. It is a Replica. With an injected clock and
// generator the same calls give the same records. It panics on options that
// no provider can have: an instance id or a scope outside of the rules.
func NewMemory(opts ...Option) Provider {
	m, err := openMemory(memoryConfig(opts))
	if err != nil {
		panic(err.Error())
	}
	return m.replica
}

func memoryConfig(opts []Option) Config {
	cfg := Config{Name: "memory"}
	for _, apply := range opts {
		if apply != nil {
			apply(&cfg)
		}
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	return cfg
}

// inMemory is a provider whose store nobody else has.
type inMemory struct {
	*replica
	floor *clockFloor
}

func openMemory(cfg Config) (inMemory, error) {
	floor := &clockFloor{now: cfg.Clock.Now}
	st, err := store.Open(store.NewMemory(), store.Config{Now: floor.Now, Rand: memoryEntropy(cfg.InstanceID), Indexer: Indexer{}})
	if err != nil {
		return inMemory{}, fmt.Errorf("state: open a store in memory: %w", err)
	}
	p, err := open(st, cfg)
	if err != nil {
		return inMemory{}, errors.Join(err, st.Close())
	}
	return inMemory{p, floor}, nil
}

// memoryEntropy makes the id of a store in memory follow from who writes to it:
// the same calls give the same records, and an instance whose log is replayed
// counts outcomes where it did before. No peer ever sees such a store.
func memoryEntropy(instance string) io.Reader {
	return rand.NewChaCha8(sha256.Sum256([]byte("fleetd/memory-store/1\x00" + cmp.Or(instance, localInstance))))
}

// clockFloor is a clock that can be kept from being earlier than something that
// has happened. Safe for concurrent use.
type clockFloor struct {
	now func() time.Time

	mu sync.Mutex // guards all following fields
	at time.Time
}

// Now returns the time, or the floor when that is later.
func (c *clockFloor) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.After(c.at) {
		return now
	}
	return c.at
}

// hold keeps Now from being earlier than a stamp until release is called.
func (c *clockFloor) hold(stamp hlc.Timestamp) (release func()) {
	set := func(at time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.at = at
	}
	set(stamp.Time())
	return func() { set(time.Time{}) }
}
