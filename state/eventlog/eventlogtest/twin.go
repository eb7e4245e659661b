package eventlogtest

import (
	"github.com/fleetsync/fleetd/state/eventlog"
)

// twin is a log in the plainest words: two lists in the order of writing, that
// every question walks through. It holds texts, so nobody can change it.
type twin struct {
	events    []shownEvent
	snapshots []shownSnapshot
}

type shownSnapshot struct {
	Stream  string
	Seq     int64
	Payload string
}

func (w *twin) append(in eventlog.AppendInput) shownEvent {
	e := shownEvent{
		Event: eventlog.Event{
			Stream: in.Stream, Seq: int64(len(w.read(in.Stream, 0, 0))) + 1, Time: in.Time.UTC(), Type: in.Type,
			Actor: in.Actor, SchemaVersion: in.SchemaVersion, Path: in.Path, CausationID: in.CausationID,
		},
		JSON: asJSON(in.Payload),
	}
	if e.SchemaVersion == 0 {
		e.SchemaVersion = 1
	}
	if e.Path == "" {
		e.Path = "local"
	}
	w.events = append(w.events, e)
	return e
}

func (w *twin) read(stream string, afterSeq int64, limit int) []shownEvent {
	found := []shownEvent{}
	for _, e := range w.events {
		if e.Stream == stream && e.Seq > afterSeq && (limit <= 0 || len(found) < limit) {
			found = append(found, e)
		}
	}
	return found
}

func (w *twin) save(s eventlog.Snapshot) {
	w.snapshots = append(w.snapshots, shownSnapshot{s.Stream, s.Seq, string(s.Payload)})
}

func (w *twin) latest(stream string, upTo int64) (latest shownSnapshot, exists bool) {
	for _, s := range w.snapshots {
		// Of equal numbers the one that was saved last.
		if s.Stream == stream && (upTo <= 0 || s.Seq <= upTo) && (!exists || s.Seq >= latest.Seq) {
			latest, exists = s, true
		}
	}
	return latest, exists
}
