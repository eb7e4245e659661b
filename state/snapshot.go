package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Snapshot is the state up to an event of the state stream: every session of
// the home scope, its turns, every skill and every memory item, tombstones
// included, as agents read them: turns are counted in the envelope of their
// session, and outcomes in the Uses and Wins of live skills.
type Snapshot struct {
	LastSeq int64 `json:"lastSeq"`
	// LastEvent is set in a snapshot that was saved: which event LastSeq was, as 16
	// hexadecimal digits of its hash. A log that has another one there has lost its
	// end since, and gone on.
	LastEvent string `json:"lastEvent,omitempty"`
	// Home is the scope whose sessions it has.
	Home Scope `json:"home,omitzero"`
	// Covers is set in a snapshot that was saved, and counts up with the kinds that
	// a build reads: a later build folds the stream rather than start from less.
	// 0 is unknown, as in that of a host.
	Covers int `json:"covers,omitempty"`

	Sessions []Session    `json:"sessions"`
	Turns    []Turn       `json:"turns"`
	Skills   []Skill      `json:"skills"`
	Items    []MemoryItem `json:"items"`
	// Outcomes are what each store has counted, of deleted skills too.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	// SlugToID leads from scope and slug of each live skill to its ID. The key is
	// instance, project, workspace and slug, joined by U+001F.
	SlugToID map[string]string `json:"slugToID,omitempty"`
}

// snapshotCovers is Covers of this build: sessions, turns, skills, items and
// outcomes.
const snapshotCovers = 1

// MarshalSnapshot returns the JSON of a snapshot: the same bytes for the same
// state, whatever the order in s, which is not changed. Sessions, skills and
// items are by id (then scope and slug), turns by session, Seq, stamp, writer
// and id, outcomes by scope, slug and store.
func MarshalSnapshot(s Snapshot) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.sorted()); err != nil {
		return nil, fmt.Errorf("state: encode snapshot: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// UnmarshalSnapshot is the inverse of MarshalSnapshot. Fields that this build
// does not know are dropped. Errors: ErrInvalid.
func UnmarshalSnapshot(payload []byte) (Snapshot, error) {
	var s Snapshot
	if err := unmarshalSnapshot(payload, &s); err != nil {
		return Snapshot{}, err
	}
	return s.sorted(), nil
}

// unmarshalSnapshot decodes into s, of which what the payload does not name stays
// as it is.
func unmarshalSnapshot(payload []byte, s *Snapshot) error {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	err := decoder.Decode(s)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows it")
		}
	}
	if err != nil {
		return fmt.Errorf("%w: snapshot: %w", ErrInvalid, err)
	}
	if err := s.checkTimes(); err != nil {
		return fmt.Errorf("state: snapshot: %w", err)
	}
	return nil
}

// checkTimes brings the times into the form that a store gives them; those that
// are not set stay so. Errors: ErrInvalid for one that no store has.
func (s *Snapshot) checkTimes() error {
	var errs []error
	s.eachTime(func(at *time.Time) {
		if !at.IsZero() {
			t, err := storedTime("time", *at)
			*at, errs = t, append(errs, err)
		}
	})
	return cmp.Or(errs...)
}

// eachTime calls fn for every time of a record.
func (s *Snapshot) eachTime(stored func(at *time.Time)) {
	for i := range s.Sessions {
		stored(&s.Sessions[i].CreatedAt)
		stored(&s.Sessions[i].UpdatedAt)
	}
	for i := range s.Turns {
		stored(&s.Turns[i].CreatedAt)
	}
	for i := range s.Skills {
		stored(&s.Skills[i].CreatedAt)
		stored(&s.Skills[i].UpdatedAt)
	}
	for i := range s.Items {
		stored(&s.Items[i].CreatedAt)
	}
}

// eachEnvelope calls fn for the envelope of every record.
func (s *Snapshot) eachEnvelope(fn func(e *Envelope)) {
	for i := range s.Sessions {
		fn(&s.Sessions[i].Envelope)
	}
	for i := range s.Turns {
		fn(&s.Turns[i].Envelope)
	}
	for i := range s.Skills {
		fn(&s.Skills[i].Envelope)
	}
	for i := range s.Items {
		fn(&s.Items[i].Envelope)
	}
	for i := range s.Outcomes {
		fn(&s.Outcomes[i].Envelope)
	}
}

// sorted returns the snapshot in its order, sharing the records but not the
// lists, which are never nil.
func (s Snapshot) sorted() Snapshot {
	s.Sessions = sortedBy(s.Sessions, func(a, b *Session) int { return strings.Compare(a.ID, b.ID) })
	s.Turns = sortedBy(s.Turns, compareTurns)
	s.Skills = sortedBy(s.Skills, func(a, b *Skill) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), compareScopes(a.Scope, b.Scope), strings.Compare(a.Slug, b.Slug))
	})
	s.Items = sortedBy(s.Items, func(a, b *MemoryItem) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), compareScopes(a.Scope, b.Scope))
	})
	if len(s.Outcomes) == 0 {
		s.Outcomes = nil // as it is read back
	}
	if len(s.Outcomes) > 0 {
		s.Outcomes = sortedBy(s.Outcomes, func(a, b *Outcome) int {
			return cmp.Or(compareScopes(a.Scope, b.Scope), strings.Compare(a.Slug, b.Slug), strings.Compare(a.StoreID, b.StoreID))
		})
	}
	for i := range s.Skills {
		if s.Skills[i].Tags == nil {
			s.Skills[i].Tags = []string{}
		}
	}
	return s
}

// sortedBy returns a sorted copy. Records are large, so it moves each once.
func sortedBy[T any](list []T, compare func(a, b *T) int) []T {
	order := make([]*T, len(list))
	for i := range list {
		order[i] = &list[i]
	}
	slices.SortFunc(order, compare)
	sorted := make([]T, len(list))
	for i, v := range order {
		sorted[i] = *v
	}
	return sorted
}

// compareTurns is the order of a transcript, within the order of sessions.
func compareTurns(a, b *Turn) int {
	return cmp.Or(
		strings.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Seq, b.Seq), a.UpdatedHLC.Compare(b.UpdatedHLC),
		strings.Compare(instanceBytes(a.LastWriterID), instanceBytes(b.LastWriterID)), strings.Compare(a.ID, b.ID),
	)
}

func compareScopes(a, b Scope) int {
	return cmp.Or(strings.Compare(a.Instance, b.Instance), strings.Compare(a.Project, b.Project), strings.Compare(a.Workspace, b.Workspace))
}
