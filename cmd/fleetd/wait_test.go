package main

import (
	"testing"

	"github.com/fleetsync/fleetd/api/wire"
)

func TestWhatIsNotReadyIsNamedWithWhatToDo(t *testing.T) {
	ok := wire.Check{Name: wire.CheckNode, OK: true}
	for name, tt := range map[string]struct {
		checks        []wire.Check
		failing, next string
	}{
		"the node": {[]wire.Check{{Name: wire.CheckNode, Detail: "starting"}}, "node: starting", "look at the daemon's log"},
		"a clock":  {[]wire.Check{ok, {Name: wire.CheckClock, Detail: "an hour behind"}}, "clock: an hour behind", clockAdvice},
		"a full disk": {
			[]wire.Check{ok, {Name: wire.CheckWrites, Detail: "store: disk is full: 7 bytes free"}},
			"writes: store: disk is full: 7 bytes free", fullAdvice,
		},
		"a broken disk": {
			[]wire.Check{ok, {Name: wire.CheckWrites, Detail: "input/output error"}},
			"writes: input/output error", "look at the daemon's log and at the disk of the data directory, then stop the daemon and start it again",
		},
		"two": {[]wire.Check{{Name: wire.CheckClock, Detail: "behind"}, ok, {Name: wire.CheckStore, Detail: "gone"}}, "clock: behind; store: gone", clockAdvice},
	} {
		failing, next := unready(wire.Health{Checks: tt.checks})
		if failing != tt.failing || next != tt.next {
			t.Errorf("%s: %q, next %q, want %q, next %q", name, failing, next, tt.failing, tt.next)
		}
	}
}
