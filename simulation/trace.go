package simulation

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"
)

// Trace is the record of a run: one note for each thing that happened. Equal
// traces have equal sums, whether anybody reads them or not. It belongs to one
// goroutine.
type Trace struct {
	clock *Clock
	sum   hash.Hash
	notes []byte    // on their way to sum
	text  io.Writer // nil: only summed
	line  []byte
}

// noted is an argument of a note that enters the sum otherwise than as the text
// that it makes, since that is costly.
type noted interface {
	appendNote(dst []byte) []byte
}

// notesMax is how many bytes of notes are summed at a time.
const notesMax = 8 << 10

func newTrace(clock *Clock, text io.Writer) *Trace {
	return &Trace{clock: clock, sum: sha256.New(), text: text, notes: make([]byte, 0, notesMax+1024)}
}

// note adds the virtual time, who, and what: all that a line of text would be
// made of. The line itself is made only for those who read along.
func (t *Trace) note(who string, format string, args ...any) {
	t.notes = binary.BigEndian.AppendUint64(t.notes, uint64(t.clock.Elapsed()))
	t.notes = appendNote(t.notes, who)
	t.notes = appendNote(t.notes, format)
	for _, arg := range args {
		t.notes = appendNote(t.notes, arg)
	}
	if len(t.notes) >= notesMax {
		t.flush()
	}
	if t.text != nil {
		t.say(who, format, args)
	}
}

// appendNote writes an argument so that it begins and ends in one way only.
func appendNote(dst []byte, arg any) []byte {
	text := func(s string) []byte {
		dst = binary.AppendUvarint(append(dst, 's'), uint64(len(s)))
		return append(dst, s...)
	}
	switch arg := arg.(type) {
	case string:
		return text(arg)
	case int:
		return binary.AppendVarint(append(dst, 'i'), int64(arg))
	case uint64:
		return binary.AppendUvarint(append(dst, 'u'), arg)
	case []byte:
		return append(binary.AppendUvarint(append(dst, 'b'), uint64(len(arg))), arg...)
	case noted:
		return arg.appendNote(append(dst, 'n'))
	default:
		return text(fmt.Sprint(arg))
	}
}

// say writes one line for those who read along, which does not change the run.
func (t *Trace) say(who string, format string, args []any) {
	t.line = appendElapsed(t.line[:0], t.clock.Elapsed())
	t.line = append(t.line, ' ')
	t.line = append(t.line, who...)
	for range 5 - len(who) {
		t.line = append(t.line, ' ')
	}
	t.line = fmt.Appendf(t.line, format, args...)
	t.line = append(t.line, '\n')
	_, _ = t.text.Write(t.line)
}

func (t *Trace) flush() {
	t.sum.Write(t.notes)
	t.notes = t.notes[:0]
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
func (t *Trace) Sum() string {
	t.flush()
	return hex.EncodeToString(t.sum.Sum(nil))
}
