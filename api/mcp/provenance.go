package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// Provenance says where a record is from. Every result has it: what another
// machine wrote is a claim, and a model should see whose.
type Provenance struct {
	// WriterID is the instance that made the last write, and Writer the name of
	// that member; empty when it is no member of the fleet.
	WriterID string `json:"writer_id"`
	Writer   string `json:"writer"`
	// WrittenAt is the time of the write's stamp.
	WrittenAt time.Time `json:"written_at"`
	// InConflict says that a concurrent write lost to this one and is kept:
	// fleet_conflicts shows it.
	InConflict bool `json:"in_conflict"`
}

// conflicts are the keys of records that have a write which lost.
type conflicts map[merge.Key]bool

// conflicts looks up the records of a result alone: a fleet may have many others
// that are in conflict.
func (s *Server) conflicts(ctx context.Context, keys ...merge.Key) (conflicts, error) {
	return s.node.State().Contested(ctx, keys...)
}

// provenance tells that of a record by its envelope.
func (s *Server) provenance(e state.Envelope, inConflict bool) Provenance {
	return Provenance{WriterID: e.LastWriterID, Writer: s.node.NameOf(e.LastWriterID), WrittenAt: e.UpdatedHLC.Time(), InConflict: inConflict}
}

// String is the provenance in a line of text.
func (p Provenance) String() string {
	who := p.Writer
	if who == "" {
		who = p.WriterID
	}
	text := fmt.Sprintf("by %s, %s", who, p.WrittenAt.Format("2006-01-02 15:04 MST"))
	if p.InConflict {
		text += ", IN CONFLICT"
	}
	return text
}

func memoryKey(scope state.Scope, id string) merge.Key {
	return merge.Key{Kind: "memory", Scope: scope, ID: merge.NewID(id)}
}

func keyOfMemory(it state.MemoryItem) merge.Key { return memoryKey(it.Scope, it.ID) }

func keyOfSkill(sk state.Skill) merge.Key { return skillKey(sk.Scope, sk.Slug) }

// keysOf returns the keys of records.
func keysOf[T any](records []T, key func(T) merge.Key) []merge.Key {
	keys := make([]merge.Key, 0, len(records))
	for _, rec := range records {
		keys = append(keys, key(rec))
	}
	return keys
}

func skillKey(scope state.Scope, slug string) merge.Key {
	return merge.Key{Kind: "skill", Scope: scope, ID: merge.NewID(slug)}
}
