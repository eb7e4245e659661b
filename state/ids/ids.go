// Package ids mints record ids: UUIDs of version 7 (RFC 9562), which sort by
// the time of their creation. Time and entropy are injected, so that a run with
// the same sources mints the same ids.
package ids

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"sync"

	"github.com/google/uuid"

	"github.com/fleetsync/fleetd/state/clock"
)

// counterSeedMask leaves the upper half of the 12-bit counter free, so that at
// least 2,048 ids fit into a millisecond before the next one is borrowed.
const counterSeedMask = 1<<11 - 1

// counterMax is the largest value of the 12-bit counter.
const counterMax = 1<<12 - 1

// Generator mints ids. Those of one generator strictly ascend, also within a
// millisecond and when the clock goes back. It is safe for concurrent use.
type Generator struct {
	clock   clock.Clock
	entropy io.Reader

	mu      sync.Mutex // guards all following fields and the order of reads from entropy
	millis  int64
	counter uint16
}

// Option configures a Generator.
type Option func(*Generator)

// WithClock sets the source of the time part (default clock.System). nil
// changes nothing.
func WithClock(c clock.Clock) Option {
	return func(g *Generator) {
		if c != nil {
			g.clock = c
		}
	}
}

// WithEntropy sets the source of the random part (default crypto/rand). It must
// never end or fail. nil changes nothing.
func WithEntropy(r io.Reader) Option {
	return func(g *Generator) {
		if r != nil {
			g.entropy = r
		}
	}
}

// NewGenerator returns a generator.
func NewGenerator(opts ...Option) *Generator {
	g := &Generator{clock: clock.System{}, entropy: rand.Reader, millis: -1}
	for _, apply := range opts {
		apply(g)
	}
	return g
}

// New returns the next id in its canonical text form of 36 bytes. It reads ten
// bytes of entropy and panics when the source fails: an id that is not unique
// would merge two records into one.
func (g *Generator) New() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var random [10]byte
	if _, err := io.ReadFull(g.entropy, random[:]); err != nil {
		panic("ids: entropy source failed: " + err.Error())
	}
	seed := binary.BigEndian.Uint16(random[:2]) & counterSeedMask
	switch now := max(g.clock.Now().UnixMilli(), 0); {
	case now > g.millis:
		g.millis, g.counter = now, seed
	case g.counter < counterMax:
		g.counter++
	default:
		g.millis, g.counter = g.millis+1, seed
	}
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(g.millis)<<16|7<<12|uint64(g.counter))
	copy(id[8:], random[2:])
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	return id.String()
}
