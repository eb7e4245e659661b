package simulation

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"time"
)

// Streams of randomness. Each concern draws from its own, so that one more
// draw in one of them leaves the others as they were.
const (
	streamPlan uint64 = 1 + iota
	streamNetwork
	streamDisk
	streamWork
	streamKeys
	streamReplica // and above: one for each process
)

// Streams that came later stand apart, far above those of the processes.
const (
	streamSites    uint64 = 1<<60 + iota
	streamStorm           // what the network does in a run
	streamStorms          // what a plan has of it
	streamHabits          // what agents do besides
	streamMachines        // what happens to machines
	streamLeaves
	streamSharing
	streamCrowd
	streamNewer
	streamHostile
	streamAdversary // and above: one for each replica
	streamDialect   // and above: one for each replica
)

// streamLimits are the dice of what stores keep.
const streamLimits uint64 = 1<<61 + 3

// streamBans are the dice of what is taken away.
const streamBans uint64 = 1<<61 + 4

// dice draws decisions from a seed.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // a simulation must be repeatable
}

// chance is true with probability p.
func (d dice) chance(p float64) bool { return p > 0 && d.Float64() < p }

// between returns a number from low to high, both included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// duration returns a duration from low to high.
func (d dice) duration(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(d.Int64N(int64(high-low)))
}

// pick returns one of the choices.
func pick[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// entropy returns the bytes that a process takes for random.
func entropy(seed, stream uint64) io.Reader {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	binary.BigEndian.PutUint64(key[8:], stream)
	return rand.NewChaCha8(key)
}
