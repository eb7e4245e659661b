package setup

import (
	"errors"
	"fmt"
)

// ErrChanged is returned when a file changed after a plan was made for it.
var ErrChanged = errors.New("setup: the file has changed meanwhile")

// The outcomes of a Change.
const (
	Created   = "created"
	Edited    = "changed"
	Removed   = "removed"
	Unchanged = "unchanged"
)

// Plan is what setup or undo would do to the files of an agent.
type Plan struct {
	Changes []Change
}

// Change is what would be done to one file.
type Change struct {
	Path          string
	Outcome       string
	Before, After []byte
	// Kept are the entries that somebody changed, and that stay as they are.
	Kept []string

	was, will content
}

// Empty reports whether a plan changes nothing.
func (p *Plan) Empty() bool {
	for _, c := range p.Changes {
		if c.Outcome != Unchanged {
			return false
		}
	}
	return true
}

// Kept returns the entries of all files that somebody changed.
func (p *Plan) Kept() []string {
	var kept []string
	for _, c := range p.Changes {
		for _, what := range c.Kept {
			kept = append(kept, what+" in "+c.Path)
		}
	}
	return kept
}

// FileError is an error of one file of an agent.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the file.
func (e *FileError) Unwrap() error { return e.Err }

// Set plans what makes an agent use fleetd. With force it replaces entries that
// somebody changed.
func Set(a Agent, p Place, r Run, force bool) (*Plan, error) {
	return plan(a, p, r, func(c content, e entry, state State, _ bool) (content, bool, error) {
		if state == Wanted || state != Absent && !force {
			return c, state != Wanted, nil
		}
		after, err := e.put(c)
		if err != nil || state != Absent {
			return after, false, err
		}
		return after, false, proveUndo(c, after, e)
	}, false)
}

// proveUndo holds that taking an entry out gives back every byte.
func proveUndo(before, after content, e entry) error {
	if found, _, err := e.find(after.text); err != nil || found != Wanted {
		return fmt.Errorf("%w: %s cannot be added to it: do it by hand", ErrForm, e.what())
	}
	if back, err := e.remove(after); err != nil || !back.is(before) {
		return fmt.Errorf("%w: %s could not be taken out exactly again: add it by hand", ErrForm, e.what())
	}
	return nil
}

// Undo plans how to take back what Set did. With force it takes out entries that
// somebody changed, too. It takes out what other values of r wrote as well.
func Undo(a Agent, p Place, r Run, force bool) (*Plan, error) {
	return plan(a, p, r, func(c content, e entry, state State, commented bool) (content, bool, error) {
		if state == Absent {
			return c, false, nil
		}
		if (state == Changed || commented) && !force {
			return c, true, nil
		}
		after, err := e.remove(c)
		return after, false, err
	}, true)
}

// step does one entry, and reports whether it was kept as somebody changed it.
type step func(c content, e entry, state State, commented bool) (after content, kept bool, err error)

func plan(a Agent, p Place, r Run, do step, backwards bool) (*Plan, error) {
	files, err := a.files(p, r)
	if err != nil {
		return nil, err
	}
	plan := &Plan{}
	for _, f := range files {
		if f.left && !backwards {
			continue
		}
		was, err := read(f.path)
		if err != nil {
			return nil, &FileError{f.path, err}
		}
		c := Change{Path: f.path, was: was, will: was}
		for i := range f.entries {
			e := f.entries[i]
			if backwards {
				e = f.entries[len(f.entries)-1-i]
			}
			state, commented, err := e.find(c.will.text)
			if err != nil {
				return nil, &FileError{f.path, err}
			}
			after, kept, err := do(c.will, e, state, commented)
			if err != nil {
				return nil, &FileError{f.path, err}
			}
			if c.will = after; kept {
				c.Kept = append(c.Kept, e.what())
			}
		}
		if f.left && !was.exists {
			continue
		}
		c.Before, c.After, c.Outcome = c.was.text, c.will.text, outcome(c.was, c.will)
		plan.Changes = append(plan.Changes, c)
	}
	return plan, nil
}

func outcome(was, will content) string {
	switch {
	case was.is(will):
		return Unchanged
	case !was.exists:
		return Created
	case !will.exists:
		return Removed
	default:
		return Edited
	}
}

// Apply writes what the plan says, and returns the files that were written: all
// of them, unless there is an error. Nothing is written when one of them has
// changed since the plan was made. Errors: a FileError, of ErrChanged then.
func (p *Plan) Apply() (done []string, err error) {
	for _, c := range p.Changes {
		if c.Outcome == Unchanged {
			continue
		}
		if err := unchanged(c.Path, c.was); err != nil {
			return nil, &FileError{c.Path, err}
		}
	}
	for _, c := range p.Changes {
		if c.Outcome == Unchanged {
			continue
		}
		if err := write(c.Path, c.was, c.will); err != nil {
			return done, &FileError{c.Path, err}
		}
		done = append(done, c.Path)
	}
	return done, nil
}
