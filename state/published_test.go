package state_test

import (
	"context"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/ids"
)

// The method sets of the published interface, repeated: what an agent was
// written against takes our provider without a change but that of an import.
// Each must stay as it is here.
type (
	publishedProvider interface {
		Name() string
		Sessions() state.SessionStore
		Skills() state.SkillStore
		Memory() state.MemoryStore
		Close() error
	}
	publishedSessions interface {
		Create(ctx context.Context, s state.Session) (state.Session, error)
		Get(ctx context.Context, id string) (state.Session, error)
		List(ctx context.Context) ([]state.Session, error)
		AppendTurn(ctx context.Context, t state.Turn) (state.Turn, error)
		Turns(ctx context.Context, sessionID string) ([]state.Turn, error)
		Delete(ctx context.Context, id string) error
	}
	publishedSkills interface {
		Upsert(ctx context.Context, sk state.Skill) (state.Skill, error)
		Get(ctx context.Context, idOrSlug string) (state.Skill, error)
		List(ctx context.Context, scope state.Scope) ([]state.Skill, error)
		Search(ctx context.Context, query string, limit int) ([]state.Skill, error)
		Delete(ctx context.Context, idOrSlug string) error
	}
	publishedMemory interface {
		Write(ctx context.Context, m state.MemoryItem) (state.MemoryItem, error)
		Recall(ctx context.Context, q state.RecallQuery) ([]state.MemoryItem, error)
		Delete(ctx context.Context, id string) error
	}
	publishedStamper interface {
		InstanceID() string
		CreateSession(ses state.Session) (state.Session, eventlog.AppendInput, error)
		AppendTurn(ses state.Session, t state.Turn, nextSeq int64) (state.Turn, state.Session, eventlog.AppendInput, error)
		DeleteSession(ses state.Session) (state.Session, eventlog.AppendInput, error)
		UpsertSkill(existing *state.Skill, sk state.Skill) (state.Skill, eventlog.AppendInput, error)
		DeleteSkill(sk state.Skill) (state.Skill, eventlog.AppendInput, error)
		WriteMemory(it state.MemoryItem) (state.MemoryItem, eventlog.AppendInput, error)
		DeleteMemory(it state.MemoryItem) (state.MemoryItem, eventlog.AppendInput, error)
	}
)

// Both directions: nothing is missing, and an agent's own host still is a
// Provider.
var (
	_ publishedProvider  = state.Provider(nil)
	_ state.Provider     = publishedProvider(nil)
	_ publishedSessions  = state.SessionStore(nil)
	_ state.SessionStore = publishedSessions(nil)
	_ publishedSkills    = state.SkillStore(nil)
	_ state.SkillStore   = publishedSkills(nil)
	_ publishedMemory    = state.MemoryStore(nil)
	_ state.MemoryStore  = publishedMemory(nil)
	_ publishedStamper   = (*state.Stamper)(nil)
	_ publishedProvider  = state.Replica(nil)
	_ state.SkillStore   = state.SkillLibrary(nil)
	_ state.MemoryStore  = state.MemoryLibrary(nil)

	_ func(opts ...state.Option) state.Provider                                                  = state.NewMemory
	_ func(context.Context, eventlog.Log, ...state.Option) (state.Provider, error)               = state.Replay
	_ func(state.Snapshot) ([]byte, error)                                                       = state.MarshalSnapshot
	_ func([]byte) (state.Snapshot, error)                                                       = state.UnmarshalSnapshot
	_ func(map[string]any) (state.Session, error)                                                = state.DecodeSession
	_ func(map[string]any) (state.Turn, error)                                                   = state.DecodeTurn
	_ func(map[string]any) (state.Skill, error)                                                  = state.DecodeSkill
	_ func(map[string]any) (state.MemoryItem, error)                                             = state.DecodeMemoryItem
	_ func(instanceID string, clk clock.Clock, hc *hlc.Clock, gen *ids.Generator) *state.Stamper = state.NewStamper
	_ func(clock.Clock) state.Option                                                             = state.WithClock
	_ func(eventlog.Log) state.Option                                                            = state.WithEventLog
	_ func(*ids.Generator) state.Option                                                          = state.WithIDGenerator
	_ func(string) state.Option                                                                  = state.WithInstanceID
	_ func(eventlog.SnapshotCodec) state.Option                                                  = state.WithSnapshotCodec
	_ func(int) state.Option                                                                     = state.WithSnapshotEvery
)

// TestPublishedFields compares the fields of the published types, each set.
func TestPublishedFields(t *testing.T) {
	at := time.Unix(1, 0).UTC()
	envelope := state.Envelope{
		SyncVersion: 1, OriginInstanceID: "a", UpdatedHLC: hlc.Timestamp{Wall: 1}, LastWriterID: "b", Deleted: true,
	}
	scope := state.Scope{Instance: "i", Project: "p", Workspace: "w"}
	ses := state.Session{ID: "s", Title: "t", Model: "m", CreatedAt: at, UpdatedAt: at, Envelope: envelope}
	turn := state.Turn{ID: "t", SessionID: "s", Seq: 1, Role: "user", Content: "c", CreatedAt: at, Envelope: envelope}
	sk := state.Skill{
		ID: "k", Slug: "s", Name: "n", Body: "b", Tags: []string{"t"}, Scope: scope, Uses: 1, Wins: 1, Check: "c", Version: 1,
		CreatedAt: at, UpdatedAt: at, Envelope: envelope,
	}
	it := state.MemoryItem{ID: "m", Kind: "k", Content: "c", Scope: scope, Source: "s", CreatedAt: at, Envelope: envelope}
	_ = state.RecallQuery{Query: "q", Scope: scope, Limit: 1}
	s := state.Snapshot{
		LastSeq: 1, Sessions: []state.Session{ses}, Turns: []state.Turn{turn}, Skills: []state.Skill{sk},
		Items: []state.MemoryItem{it}, SlugToID: map[string]string{"s": "k"},
	}
	payload, err := state.MarshalSnapshot(s)
	must(t, err)
	again, err := state.UnmarshalSnapshot(payload)
	must(t, err)
	same(t, s, again)
	// The envelope is embedded: its fields are the record's own, in JSON too.
	same(t, []any{int64(1), "b", true}, []any{ses.SyncVersion, turn.LastWriterID, sk.Deleted})
	same(t, "state", state.StateStream)
	same(t, []string{
		"session.created", "session.turn_appended", "session.deleted", "skill.upserted", "skill.deleted", "memory.written", "memory.deleted",
	}, []string{
		state.EvSessionCreated, state.EvTurnAppended, state.EvSessionDeleted, state.EvSkillUpserted, state.EvSkillDeleted,
		state.EvMemoryWritten, state.EvMemoryDeleted,
	})
}
