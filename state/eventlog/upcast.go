package eventlog

import "fmt"

// Upcaster brings the payload of one event type from one schema version to the
// next.
type Upcaster struct {
	Type string
	// From is the version that Up takes, at least 1; it gives From + 1.
	From int
	// Up returns the payload of the next version. It gets a copy, which it may
	// change and return. It must depend on nothing else, since every replay runs
	// it again, and be safe for concurrent use.
	Up func(payload map[string]any) (map[string]any, error)
}

// Upcasters are the upcasters that a build knows. The value is immutable and
// safe for concurrent use; the zero value knows none.
type Upcasters struct {
	steps map[upcastStep]func(map[string]any) (map[string]any, error)
	// newest is the version that the steps of a type lead to.
	newest map[string]int
}

type upcastStep struct {
	eventType string
	from      int
}

// UpcastResult says what Apply did.
type UpcastResult uint8

// What Apply can do with an event.
const (
	// UpcastCurrent: the event has the newest version, and is as it was.
	UpcastCurrent UpcastResult = 1 + iota
	// UpcastDone: the event was brought to the newest version.
	UpcastDone
	// UpcastMissing: a step between is unknown. The event is as it was; a fold
	// skips and counts it.
	UpcastMissing
	// UpcastNewer: the event is of a newer build. It is as it was; a fold skips
	// and counts it.
	UpcastNewer
)

// Usable reports whether the event has the newest version that this build knows.
func (r UpcastResult) Usable() bool { return r == UpcastCurrent || r == UpcastDone }

// String returns a word for logs.
func (r UpcastResult) String() string {
	switch r {
	case UpcastCurrent:
		return "current"
	case UpcastDone:
		return "upcast"
	case UpcastMissing:
		return "step missing"
	case UpcastNewer:
		return "newer"
	}
	return "unknown"
}

// NewUpcasters returns the registry of list, in any order. Errors: ErrInvalid
// for an empty type, a From below 1, a missing function, and two upcasters of
// one step.
func NewUpcasters(list ...Upcaster) (Upcasters, error) {
	u := Upcasters{
		steps:  make(map[upcastStep]func(map[string]any) (map[string]any, error), len(list)),
		newest: map[string]int{},
	}
	for _, c := range list {
		step := upcastStep{c.Type, c.From}
		if c.Type == "" || c.From < SchemaVersion || c.Up == nil {
			return Upcasters{}, fmt.Errorf("%w: upcaster of %q from version %d", ErrInvalid, c.Type, c.From)
		}
		if _, twice := u.steps[step]; twice {
			return Upcasters{}, fmt.Errorf("%w: two upcasters of %q from version %d", ErrInvalid, c.Type, c.From)
		}
		u.steps[step] = c.Up
		u.newest[c.Type] = max(u.newest[c.Type], c.From+1)
	}
	return u, nil
}

// Newest returns the newest version of the event type that is known: the one
// that its last upcaster gives, SchemaVersion without any.
func (u Upcasters) Newest(eventType string) int {
	return max(u.newest[eventType], SchemaVersion)
}

// Apply brings an event to the newest version of its type, and says whether it
// did. All steps are taken or none: an event that cannot be used, and one that
// is current, is returned as it came, payload shared. Otherwise the payload is a
// new one. The event passed in is changed in no case.
//
// Errors: the error of an upcaster, and ErrInvalid when the event or an upcaster
// gives what is no payload; the event is then returned as it came, with no
// result.
func (u Upcasters) Apply(e Event) (Event, UpcastResult, error) {
	newest := u.Newest(e.Type)
	switch {
	case e.SchemaVersion == newest:
		return e, UpcastCurrent, nil
	case e.SchemaVersion > newest:
		return e, UpcastNewer, nil
	}
	for version := e.SchemaVersion; version < newest; version++ {
		if u.steps[upcastStep{e.Type, version}] == nil {
			return e, UpcastMissing, nil
		}
	}
	payload := e.Payload
	for version := e.SchemaVersion; version < newest; version++ {
		next, err := u.step(e.Type, version, payload)
		if err != nil {
			return e, 0, fmt.Errorf("eventlog: upcast %s of %q at %d from version %d: %w", e.Type, e.Stream, e.Seq, version, err)
		}
		payload = next
	}
	upcast := e
	upcast.Payload, upcast.SchemaVersion = payload, newest
	return upcast, UpcastDone, nil
}

// step copies what goes in and what comes out, since an upcaster may return a
// part of what it got or something that it keeps.
func (u Upcasters) step(eventType string, from int, payload map[string]any) (map[string]any, error) {
	if err := checkPayload(payload); err != nil {
		return nil, err
	}
	next, err := u.steps[upcastStep{eventType, from}](cloneObject(payload))
	if err != nil {
		return nil, err
	}
	if next == nil {
		return nil, fmt.Errorf("%w: the upcaster gave no payload", ErrInvalid)
	}
	if err := checkPayload(next); err != nil {
		return nil, err
	}
	return cloneObject(next), nil
}
