package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"
)

// Trace is the record of a run: one line for each thing that happened. Equal
// traces have equal sums. It belongs to one goroutine.
type Trace struct {
	clock *Clock
	sum   hash.Hash
	text  io.Writer // nil: only summed
	line  []byte
}

func newTrace(clock *Clock, text io.Writer) *Trace {
	return &Trace{clock: clock, sum: sha256.New(), text: text}
}

// note adds one line: the virtual time, who, and what.
func (t *Trace) note(who string, format string, args ...any) {
	t.line = appendElapsed(t.line[:0], t.clock.Elapsed())
	t.line = append(t.line, ' ')
	t.line = append(t.line, who...)
	for range 5 - len(who) {
		t.line = append(t.line, ' ')
	}
	t.line = fmt.Appendf(t.line, format, args...)
	t.line = append(t.line, '\n')
	t.sum.Write(t.line)
	if t.text != nil {
		_, _ = t.text.Write(t.line) // what reads along does not change the run
	}
}

// appendElapsed writes days and the time of day, to the millisecond.
func appendElapsed(dst []byte, d time.Duration) []byte {
	const day = 24 * time.Hour
	if d >= day {
		dst = fmt.Appendf(dst, "%dd", d/day)
		d %= day
	}
	return fmt.Appendf(dst, "%02d:%02d:%02d.%03d", d/time.Hour, d/time.Minute%60, d/time.Second%60, d/time.Millisecond%1000)
}

// Sum returns the hash of everything so far, in hex.
func (t *Trace) Sum() string { return hex.EncodeToString(t.sum.Sum(nil)) }
