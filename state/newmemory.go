package state

import (
	"crypto/rand"

	"github.com/fleetsync/fleetd/state/clock"
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

// NewMemory returns an empty Provider that lives in memory: unsigned records,
// no key, no files, no set-up. It is a Replica. With an injected clock and
// generator the same calls give the same records. It panics on options that
// no provider can have: an instance id or a scope outside of the rules.
func NewMemory(opts ...Option) Provider {
	cfg := Config{Name: "memory", Clock: clock.System{}}
	for _, apply := range opts {
		apply(&cfg)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	st, err := store.Open(store.NewMemory(), store.Config{Now: cfg.Clock.Now, Rand: rand.Reader, Indexer: Indexer{}})
	if err != nil {
		panic("state: open a store in memory: " + err.Error())
	}
	p, err := Open(st, cfg)
	if err != nil {
		panic(err.Error())
	}
	return p
}
