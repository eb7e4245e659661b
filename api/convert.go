package api

import (
	"encoding/hex"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

func wireScope(s state.Scope) wire.Scope {
	return wire.Scope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace}
}

func stateScope(s wire.Scope) state.Scope {
	return state.Scope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace}
}

func wireEnvelope(e state.Envelope) wire.Envelope {
	return wire.Envelope{
		SyncVersion:      e.SyncVersion,
		UpdatedHLC:       e.UpdatedHLC.String(),
		LastWriterID:     e.LastWriterID,
		OriginInstanceID: e.OriginInstanceID,
		Deleted:          e.Deleted,
	}
}

// stateToken reads a token. Errors: a Problem.
func stateToken(t wire.Token) (state.Envelope, error) {
	e := state.Envelope{SyncVersion: t.SyncVersion, LastWriterID: t.LastWriterID}
	switch {
	case t.MustNotExist && (t.SyncVersion != 0 || t.UpdatedHLC != "" || t.LastWriterID != ""):
		return e, newProblem(wire.CodeInvalid, "must_not_exist stands alone: what does not exist has no version")
	case t.MustNotExist:
		return state.Envelope{SyncVersion: state.MustNotExist}, nil
	case t.SyncVersion < 0:
		return e, newProblem(wire.CodeInvalid, "sync_version is negative")
	case t.SyncVersion == 0 && (t.UpdatedHLC != "" || t.LastWriterID != ""):
		return e, newProblem(wire.CodeInvalid, "updated_hlc and last_writer_id count only together with sync_version")
	case t.UpdatedHLC == "":
		return e, nil
	}
	stamp, err := hlc.Parse(t.UpdatedHLC)
	if err != nil {
		return e, newProblem(wire.CodeInvalid, "updated_hlc: "+err.Error())
	}
	e.UpdatedHLC = stamp
	return e, nil
}

func wireGated(s state.Secrets) wire.Gated {
	return wire.Gated{Held: rulesOf(s.Held), Warned: rulesOf(s.Warned)}
}

// rulesOf divides names of rules; nil for none.
func rulesOf(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Fields(names)
}

// wireSkill returns a skill without its body.
func wireSkill(sk state.Skill) wire.Skill {
	return wire.Skill{
		ID: sk.ID, Slug: sk.Slug, Name: sk.Name, Description: describe(sk), Scope: wireScope(sk.Scope),
		Version: sk.Version, Uses: sk.Uses, Wins: sk.Wins, Tags: append([]string{}, sk.Tags...), Check: sk.Check,
		CreatedAt: sk.CreatedAt, UpdatedAt: sk.UpdatedAt, BodyBytes: len(sk.Body), Incomplete: sk.Incomplete, Gated: wireGated(sk.Secrets),
		Envelope: wireEnvelope(sk.Envelope),
	}
}

// wireSkillFull returns a skill with its body.
func wireSkillFull(sk state.Skill) wire.Skill {
	w := wireSkill(sk)
	w.Body = &sk.Body
	return w
}

// describe returns the description of a body's frontmatter, "" without one: a
// body is any text, and only one from a SKILL.md describes itself.
func describe(sk state.Skill) string {
	if !strings.HasPrefix(strings.TrimPrefix(sk.Body, "\ufeff"), "---") {
		return ""
	}
	return skillfs.Description([]byte(sk.Body))
}

func wireMemory(m state.MemoryItem) wire.MemoryItem {
	return wire.MemoryItem{
		ID: m.ID, Kind: m.Kind, Content: m.Content, Scope: wireScope(m.Scope), Source: m.Source,
		CreatedAt: m.CreatedAt, Incomplete: m.Incomplete, Gated: wireGated(m.Secrets), Envelope: wireEnvelope(m.Envelope),
	}
}

func wireSession(ses state.Session) wire.Session {
	return wire.Session{
		ID: ses.ID, Title: ses.Title, Model: ses.Model, CreatedAt: ses.CreatedAt, UpdatedAt: ses.UpdatedAt,
		Gated: wireGated(ses.Secrets), Envelope: wireEnvelope(ses.Envelope),
	}
}

func wireTurn(t state.Turn) wire.Turn {
	return wire.Turn{
		ID: t.ID, SessionID: t.SessionID, Seq: t.Seq, Role: t.Role, Content: t.Content, CreatedAt: t.CreatedAt,
		Incomplete: t.Incomplete, Gated: wireGated(t.Secrets),
		Envelope: wireEnvelope(t.Envelope),
	}
}

func wireOutcome(o state.Outcome) wire.Outcome {
	return wire.Outcome{
		Slug: o.Slug, Scope: wireScope(o.Scope), StoreID: o.StoreID, Uses: o.Uses, Wins: o.Wins,
		Envelope: wireEnvelope(o.Envelope),
	}
}

// wireHistory returns the versions of a key.
func wireHistory(key merge.Key, versions []state.Version) wire.History {
	h := wire.History{
		SchemaVersion: wire.SchemaVersion, Kind: key.Kind, Key: KeyText(key.ID), Scope: wireScope(key.Scope),
		Versions: make([]wire.Version, 0, len(versions)),
	}
	for _, v := range versions {
		h.Versions = append(h.Versions, wireVersion(v))
	}
	return h
}

// KeyText writes the id of a key as wire.Conflict says. It is pure.
func KeyText(id merge.ID) string {
	parts := id.Components()
	if len(parts) > 1 {
		for i, part := range parts {
			parts[i] = strings.NewReplacer("%", "%25", "/", "%2F").Replace(part)
		}
	}
	return strings.Join(parts, "/")
}

func wireConflict(c state.Conflict) wire.Conflict {
	return wire.Conflict{
		Kind:   c.Key.Kind,
		Key:    KeyText(c.Key.ID),
		Scope:  wireScope(c.Key.Scope),
		Winner: wireVersion(c.Winner),
		Loser:  wireVersion(c.Loser),
	}
}

func wireVersion(v state.Version) wire.Version {
	w := wire.Version{Hash: hex.EncodeToString(v.Hash[:]), Envelope: wireEnvelope(v.Envelope), Standing: string(v.Standing)}
	if !v.CoveredAt.IsZero() {
		w.CoveredAt = &v.CoveredAt
	}
	if v.Skill != nil {
		sk := wireSkillFull(*v.Skill)
		w.Skill = &sk
	}
	if v.Memory != nil {
		m := wireMemory(*v.Memory)
		w.Memory = &m
	}
	if v.Session != nil {
		ses := wireSession(*v.Session)
		w.Session = &ses
	}
	if v.Turn != nil {
		t := wireTurn(*v.Turn)
		w.Turn = &t
	}
	if v.Outcome != nil {
		o := wireOutcome(*v.Outcome)
		w.Outcome = &o
	}
	return w
}
