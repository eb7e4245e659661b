package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// A position is where an event lies in the stream of one store: its number, and
// a tag of the store, so that nobody goes on in another one where that number
// means something else.

func positionText(seq int64, store string) string { return strconv.FormatInt(seq, 10) + "-" + store }

// parsePosition reads a position, or a number alone: then store is empty. Errors:
// a Problem.
func parsePosition(text string) (seq int64, store string, err error) {
	if text == "" {
		return 0, "", nil
	}
	number, store, tagged := strings.Cut(text, "-")
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 0 || tagged && store == "" {
		return 0, "", newProblem(wire.CodeInvalid, fmt.Sprintf("the position %.80q is none: expected that of an event, a number from 0, or now", text))
	}
	return seq, store, nil
}

// beginning is where a watcher begins.
type beginning struct {
	seq   int64
	store string
	reset string // why not where it asked for; empty when there
}

// begin finds where a watcher begins that asks for what comes after a position.
// Errors: a Problem for what is no position, those of the backend and the log.
func (s watch) begin(ctx context.Context, after string) (beginning, error) {
	status, err := s.backend.Status(ctx)
	if err != nil {
		return beginning{}, err
	}
	at := beginning{store: storeTag(status.ID)}
	log := s.backend.State().Log()
	if after == "now" {
		at.seq, err = Newest(ctx, log)
		return at, err
	}
	seq, store, err := parsePosition(after)
	if err != nil {
		return at, err
	}
	at.seq = seq
	switch {
	case store != "" && store != at.store:
		at.reset = "that position is one of another store"
	case seq > 0:
		known, err := isThere(ctx, log, seq)
		if err != nil {
			return at, err
		}
		if !known {
			at.reset = "this store has not come to that position: it was restored from an older copy, or is another one"
		}
	}
	if at.reset != "" {
		at.seq, err = Newest(ctx, log)
	}
	return at, err
}

// storeTag stands for a store in positions. One instance has one store: without
// it, it makes no new one.
func storeTag(instance string) string {
	sum := sha256.Sum256([]byte(instance))
	return hex.EncodeToString(sum[:4])
}

// isThere reports whether the stream has come to a position.
func isThere(ctx context.Context, log eventlog.Log, seq int64) (bool, error) {
	next, err := log.Read(ctx, state.StateStream, seq-1, 1)
	if err != nil || len(next) > 0 {
		return len(next) > 0, err
	}
	// The last event of all may be gone, when its record is.
	compacted, isCompacted := log.(eventlog.Compacted)
	if !isCompacted {
		return false, nil
	}
	first, err := compacted.Retained(ctx, state.StateStream)
	return first == seq+1, err
}

// Newest returns the number of the newest event of the state stream that is there;
// 0 for none. A log does not say it, and reading all of it would take as long as it
// is: so the place where nothing follows is sought by halves. Errors: those of the
// log.
func Newest(ctx context.Context, log eventlog.Log) (int64, error) {
	low, high := int64(0), int64(math.MaxInt64) // it lies between, both included; 0 is none
	for step := int64(1); low < high; {
		at := low + (high-low)/2
		if high == math.MaxInt64 {
			at = min(at, low+step)
			step = min(step*2, math.MaxInt32)
		}
		next, err := log.Read(ctx, state.StateStream, at, 1)
		switch {
		case err != nil:
			return 0, err
		case len(next) == 0:
			high = at
		default:
			low = next[0].Seq
		}
	}
	return low, nil
}
