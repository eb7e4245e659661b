package simulation

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Run runs a plan to its end, and then check, nil for none, on a fleet that is
// as it should be. A panic on the way is a violation of InvariantPanic. The
// cluster is nil when it came to none. Errors: ErrPlan, ErrFailed, ErrStopped, and
// those of New and check.
func Run(plan Plan, options Options, check func(*Cluster) error) (c *Cluster, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Violation{Invariant: InvariantPanic, Text: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	if c, err = New(plan, options); err != nil {
		return nil, err
	}
	if err = c.Run(); err == nil && check != nil {
		err = check(c)
	}
	return c, err
}

// ViolationOf returns what an error of a run says is violated, nil for nil. What
// is no violation, as of a user's own check, is one of InvariantOwn; see Named.
func ViolationOf(err error) *Violation {
	var v *Violation
	switch {
	case err == nil:
		return nil
	case errors.As(err, &v):
		return v
	}
	return ownViolation(err)
}
