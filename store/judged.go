package store

import (
	"bytes"
	"errors"
)

// m/judged tells by which statements every version here was judged: that is what
// a Reconsider may rely on. The row is empty while versions are judged anew, and
// from when one came that was judged by others until the next has come to its end.

// judging is what a request says of the judging of all versions.
type judging uint8

const (
	// begun makes every local write stale that was begun before.
	begun judging = iota + 1
	ended
)

// lastJudging is what the committing goroutine knows of the newest Reconsider.
type lastJudging struct {
	by [32]byte
	// mixed says that versions came since it began that were judged by others.
	mixed bool
}

// judgedBy returns the mark of the statements by which every version here was
// judged; nil when that did not come to its end.
func (s *Store) judgedBy() ([]byte, error) {
	var mark []byte
	err := s.View(func(r *Reader) error {
		value, err := get(r.tx, []byte(keyJudged))
		switch {
		case errors.Is(err, ErrNotFound):
			mark = make([]byte, 32) // by none that takes away
			return nil
		case err == nil && len(value) > 0:
			mark = bytes.Clone(value)
		}
		return err
	})
	return mark, err
}

// noteJudging stages the beginning or the end of judging all versions.
func (g *stage) noteJudging(req *request) {
	switch req.judging {
	case begun:
		g.s.epoch.Add(1)
		g.s.judging = lastJudging{by: *req.by}
		g.setRow([]byte(keyJudged), []byte{})
	case ended:
		switch {
		case g.s.judging.mixed || g.s.judging.by != *req.by: // the next one judges all again
		case *req.by == [32]byte{}:
			g.setRow([]byte(keyJudged), nil)
		default:
			g.setRow([]byte(keyJudged), bytes.Clone(req.by[:]))
		}
	}
}

// noteJudgedBy stages that not all versions are judged by the same statements any
// more, when those of a request were judged by others. Parked versions are judged
// again in any case. Errors: the engine's.
func (g *stage) noteJudgedBy(req *request) error {
	if req.by == nil || len(req.entries) == 0 {
		return nil
	}
	g.s.judging.mixed = g.s.judging.mixed || g.s.judging.by != *req.by
	stored, err := g.getRow([]byte(keyJudged))
	if err != nil {
		return err
	}
	var known []byte // nil when nobody knows
	if stored == nil {
		known = make([]byte, len(req.by)) // by none that takes away
	} else if value, err := openValue([]byte(keyJudged), stored); err == nil {
		if len(value) == 0 {
			return nil
		}
		known = value
	}
	if bytes.Equal(known, req.by[:]) {
		return nil
	}
	g.setRow([]byte(keyJudged), []byte{})
	return nil
}
