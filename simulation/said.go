package simulation

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// said is what an agent has given to be written, and what must be read of it:
// every field of a skill or memory item but its key and its envelope.
type said struct {
	Text                      string // the body of a skill, the content of an item
	Name, Check, Kind, Source string
	Tags                      []string
	Created                   time.Time // zero: unknown
	Version                   int       // of a skill; 0: unknown
	Incomplete                bool      // the text is not here: nothing is said of it
}

func saidOfSkill(sk *state.Skill) *said {
	return &said{Text: sk.Body, Name: sk.Name, Check: sk.Check, Tags: sk.Tags, Created: sk.CreatedAt, Version: sk.Version, Incomplete: sk.Incomplete}
}

func saidOfItem(it *state.MemoryItem) *said {
	return &said{Text: it.Content, Kind: it.Kind, Source: it.Source, Created: it.CreatedAt, Incomplete: it.Incomplete}
}

// saidOf is what a version shows as, nil for none that is decoded.
func saidOf(v *state.Version) *said {
	switch {
	case v.Skill != nil:
		return saidOfSkill(v.Skill)
	case v.Memory != nil:
		return saidOfItem(v.Memory)
	}
	return nil
}

// otherwise says in what a reading differs from what was said, empty for in
// nothing. Of what is unknown everything goes.
func (s *said) otherwise(seen *said) string {
	switch {
	case s == nil:
		return ""
	case seen == nil:
		return "nothing that can be read"
	case s.Text != seen.Text && (!seen.Incomplete || seen.Text != ""):
		return fmt.Sprintf("the text %.60q, which is %.60q", seen.Text, s.Text)
	case s.Name != seen.Name || s.Check != seen.Check || s.Kind != seen.Kind || s.Source != seen.Source:
		return fmt.Sprintf("name %q, check %q, kind %q and source %q, which are %q, %q, %q and %q",
			seen.Name, seen.Check, seen.Kind, seen.Source, s.Name, s.Check, s.Kind, s.Source)
	case !slices.Equal(s.Tags, seen.Tags):
		return fmt.Sprintf("tags %q, which are %q", seen.Tags, s.Tags)
	case !s.Created.IsZero() && !s.Created.Equal(seen.Created):
		return fmt.Sprintf("that it is of %s, and it is of %s", seen.Created.Format(time.RFC3339Nano), s.Created.Format(time.RFC3339Nano))
	case s.Version != 0 && s.Version != seen.Version:
		return fmt.Sprintf("revision %d, which is %d", seen.Version, s.Version)
	}
	return ""
}

// saying returns what the version in hand will say: what its agent gives, and
// from what the store has before, which it goes on from, when the thing was made
// and how often it was revised. It is nil when that is unknown.
func (m *model) saying(r *Replica, rec *merge.Record) (*said, error) {
	kind := rec.Key.Kind
	if kind != "skill" && kind != "memory" || r.saying == nil && !rec.Envelope.Deleted {
		return nil, nil //nolint:nilnil // nobody knows
	}
	var s said
	if r.saying != nil {
		s = *r.saying
	}
	s.Version = 1
	switch head, exists, err := r.head(rec.Key); {
	case err != nil:
		return nil, err
	case exists:
		s.Created, s.Version = time.Time{}, 0
		if w := m.versions[head.Hash]; w != nil && w.said != nil {
			s.Created = w.said.Created
			if w.said.Version > 0 {
				s.Version = w.said.Version + 1
			}
		}
	case s.Created.IsZero():
		s.Created = r.Now()
	}
	if kind == "memory" {
		s.Version = 0
	}
	return &s, nil
}

// upsert writes a skill as agents do, with everything that follows from its text
// besides.
func (r *Replica) upsert(sk state.Skill) error {
	n := crc32.ChecksumIEEE([]byte(sk.Body))
	sk.Name = fmt.Sprintf("Skill %d", n%100)
	sk.Tags = []string{"fleet", fmt.Sprintf("t%d", n%7), "shared"}[:n/7%4]
	if n%2 == 0 {
		sk.Check = fmt.Sprintf("test %d", n%10)
	}
	sk.CreatedAt = madeAt(n)
	return r.upsertAs(sk)
}

// upsertAs writes a skill as it is.
func (r *Replica) upsertAs(sk state.Skill) error {
	r.saying = saidOfSkill(&sk)
	defer func() { r.saying = nil }()
	_, err := r.State().Skills().Upsert(context.Background(), sk)
	return err
}

// memorize is upsert of a memory item.
func (r *Replica) memorize(it state.MemoryItem) error {
	n := crc32.ChecksumIEEE([]byte(it.Content))
	it.Kind = []string{"", "fact", "preference"}[n%3]
	if n%2 == 0 {
		it.Source = fmt.Sprintf("run %d", n%100)
	}
	it.CreatedAt = madeAt(n)
	r.saying = saidOfItem(&it)
	defer func() { r.saying = nil }()
	_, err := r.State().Memory().Write(context.Background(), it)
	return err
}

// madeAt is when somebody says that a thing was made: before all runs; zero for
// nobody says it.
func madeAt(n uint32) time.Time {
	if n/4%3 > 0 {
		return time.Time{}
	}
	return epoch().Add(-time.Duration(n) * time.Second)
}

// shown is what a reading says of each key that it lists.
func (seen *reading) shown() map[merge.Key]*said {
	shown := map[merge.Key]*said{}
	for _, skills := range seen.Skills {
		for i := range skills {
			sk := &skills[i]
			shown[merge.Key{Kind: "skill", Scope: sk.Scope, ID: merge.NewID(sk.Slug)}] = saidOfSkill(sk)
		}
	}
	for _, items := range seen.Memory {
		for i := range items {
			it := &items[i]
			shown[merge.Key{Kind: "memory", Scope: it.Scope, ID: merge.NewID(it.ID)}] = saidOfItem(it)
		}
	}
	return shown
}

// checkSaid holds what a replica reads to what was said: every live head is
// there, and no version says anything else. expected is what is owed.
func (c *Cluster) checkSaid(r *Replica, seen *reading, expected map[merge.Key][]merge.Version) {
	shown := seen.shown()
	for _, w := range c.model.order { // in an order that is the same each time
		key, versions := w.record.Key, expected[w.record.Key]
		if len(versions) == 0 || versions[len(versions)-1].Hash != w.record.Hash() || w.said == nil || c.model.cloned[key] || !c.shared(key.Section()) {
			continue
		}
		switch s := shown[key]; {
		case w.record.Envelope.Deleted != (s == nil):
			c.fail(InvariantReads, "replica %d lists %t, of %s", r.number, s != nil, c.model.describe(w.record.Hash()))
		case s != nil:
			c.checkVersion(r, w, s)
		}
	}
	for i := range seen.Conflicts {
		for _, v := range []*state.Version{&seen.Conflicts[i].Winner, &seen.Conflicts[i].Loser} {
			if w := c.model.versions[v.Hash]; w != nil {
				c.checkVersion(r, w, saidOf(v))
			}
		}
	}
}

func (c *Cluster) checkVersion(r *Replica, w *written, seen *said) {
	if different := w.said.otherwise(seen); different != "" {
		c.fail(InvariantReads, "replica %d reads of %s %s", r.number, c.model.describe(w.record.Hash()), different)
	}
}

// compareConflicts holds what agents are shown as conflicts to what the store
// holds: each version but the head lost to the head, and nothing else did.
func (c *Cluster) compareConflicts(r *Replica, h *holding) error {
	conflicts, err := r.State().Conflicts(context.Background())
	if err != nil {
		return err
	}
	type pair struct{ winner, loser merge.Hash }
	shown := map[pair]int{}
	for i := range conflicts {
		shown[pair{conflicts[i].Winner.Hash, conflicts[i].Loser.Hash}]++
	}
	held := 0
	for key, versions := range h.keys {
		for i := range len(versions) - 1 {
			held++
			if n := shown[pair{versions[len(versions)-1].Hash, versions[i].Hash}]; n != 1 {
				c.fail(InvariantReads, "replica %d shows %d times that %s lost, of the conflict of %s", r.number, n, c.model.describe(versions[i].Hash), key)
			}
		}
	}
	if len(conflicts) != held {
		c.fail(InvariantReads, "replica %d shows %d versions that lost, and holds %d", r.number, len(conflicts), held)
	}
	return nil
}
