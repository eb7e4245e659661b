package simulation

import (
	"errors"
	"fmt"
)

// Named gives an error of an own check, of an agent's work or of Cluster.Fail
// (with %w) the name of what it is that failed, such as "every note arrives"; nil
// for nil. To shrink is to look for a shorter plan that fails of the same, and by
// their names alone can own failures be told apart: without one, whatever else a
// check finds in a shorter plan is the same.
func Named(name string, err error) error {
	if err == nil {
		return nil
	}
	return &namedError{name, err}
}

type namedError struct {
	name string
	err  error
}

// Error implements error.
func (e *namedError) Error() string { return e.name + ": " + e.err.Error() }

// Unwrap returns what was named.
func (e *namedError) Unwrap() error { return e.err }

// ownViolation is what an error of a user's own code says is violated.
func ownViolation(err error) *Violation {
	v := &Violation{Invariant: InvariantOwn, Text: err.Error()}
	var named *namedError
	if errors.As(err, &named) {
		v.Check = named.name
	}
	return v
}

// Fail fails the run, as InvariantOwn: for a check of one's own that looks at
// the cluster while it runs. The first failure counts. The format may wrap an
// error with %w, as one that is Named.
func (c *Cluster) Fail(format string, args ...any) {
	c.violate(ownViolation(fmt.Errorf(format, args...)))
}
