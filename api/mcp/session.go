package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// Session is a conversation, without its turns.
type Session struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Model     string    `json:"model"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when it or its newest turn was written.
	UpdatedAt time.Time `json:"updated_at"`
	gated
	Provenance
}

// SessionIndex is the sessions of the home scope, the last used first.
type SessionIndex struct {
	Sessions []Session `json:"sessions"`
	counted
}

// Turn is one turn of a session.
type Turn struct {
	ID        string    `json:"id"`
	SessionID string    `json:"session_id"`
	Seq       int64     `json:"seq"`
	Role      string    `json:"role"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
	// Incomplete says that the content is not all on this machine yet, and shows
	// as empty.
	Incomplete bool `json:"incomplete"`
	gated
	Provenance
}

// Transcript is a page of the turns of a session.
type Transcript struct {
	SessionID string `json:"session_id"`
	Turns     []Turn `json:"turns"`
	// NextAfter, when it is there, is the argument after of the next page.
	NextAfter int64 `json:"next_after,omitempty"`
}

func (s *Server) session(ses state.Session, in conflicts) Session {
	return Session{
		ID: ses.ID, Title: ses.Title, Model: ses.Model, CreatedAt: ses.CreatedAt, UpdatedAt: ses.UpdatedAt, gated: gatedOf(ses.Secrets),
		Provenance: s.provenance(ses.Envelope, in[s.sessionKey(ses)]),
	}
}

func (s *Server) sessionKey(ses state.Session) merge.Key {
	return merge.Key{Kind: "session", Scope: s.node.State().Home(), ID: merge.NewID(ses.ID)}
}

func (s *Server) turnKey(t state.Turn) merge.Key {
	return merge.Key{Kind: "session.turn", Scope: s.node.State().Home(), ID: merge.NewID(t.SessionID, t.ID)}
}

func (s *Server) turn(t state.Turn, in conflicts) Turn {
	return Turn{
		ID: t.ID, SessionID: t.SessionID, Seq: t.Seq, Role: t.Role, Content: t.Content, CreatedAt: t.CreatedAt, Incomplete: t.Incomplete, gated: gatedOf(t.Secrets),
		Provenance: s.provenance(t.Envelope, in[s.turnKey(t)]),
	}
}

func createSession(ctx context.Context, c *call) (result, error) {
	in := wire.SessionWrite{ID: c.args.text("id"), Title: c.args.text("title"), Model: c.args.text("model")}
	if fault := in.Fault(); fault != "" {
		return result{}, api.NewProblem(wire.CodeInvalid, fault)
	}
	created, err := c.node.State().Sessions().Create(ctx, state.Session{ID: in.ID, Title: in.Title, Model: in.Model})
	if err != nil {
		return result{}, err
	}
	return result{c.session(created, nil), "session " + created.ID + " begun; session_append adds to it" + gatedOf(created.Secrets).note()}, nil
}

func listSessions(ctx context.Context, c *call) (result, error) {
	found, err := c.node.State().Sessions().List(ctx)
	if err != nil {
		return result{}, err
	}
	slices.SortStableFunc(found, func(a, b state.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	limit := c.args.number("limit", limitDefault)
	in, err := c.conflicts(ctx, keysOf(found[:min(len(found), limit, limitMax)], c.sessionKey)...)
	if err != nil {
		return result{}, err
	}
	index := SessionIndex{Sessions: []Session{}, counted: counted{Total: len(found)}}
	text := newLines(limit)
	for _, ses := range found {
		out := c.session(ses, in)
		if !text.add("%s %s -- last used %s, %s", api.Named(out.ID), snippet(out.Title), out.UpdatedAt.Format("2006-01-02 15:04 MST"), out.Provenance) {
			break
		}
		index.Sessions = append(index.Sessions, out)
	}
	index.Returned = len(index.Sessions)
	return result{index, text.end("%d of %s. session_turns reads one.", index.Returned, plural(index.Total, "session", "sessions"))}, nil
}

func sessionTurns(ctx context.Context, c *call) (result, error) {
	id := c.args.text("session_id")
	found, err := c.node.State().Sessions().Turns(ctx, id)
	if err != nil {
		return result{}, err
	}
	after := int64(c.args.number("after", 0))
	found = slices.DeleteFunc(found, func(t state.Turn) bool { return t.Seq <= after })
	out := Transcript{SessionID: id, Turns: []Turn{}}
	found, out.NextAfter = turnsOfPage(found, min(max(c.args.number("limit", limitDefault), 1), limitMax))
	in, err := c.conflicts(ctx, keysOf(found, c.turnKey)...)
	if err != nil {
		return result{}, err
	}
	var text strings.Builder
	for _, t := range found {
		turn := c.turn(t, in)
		out.Turns = append(out.Turns, turn)
		content := shown(t.Content)
		if t.Incomplete {
			content = "(incomplete: its text has not come to this machine yet)"
		}
		fmt.Fprintf(&text, "## %d %s -- %s\n%s\n\n", t.Seq, t.Role, turn.Provenance, content)
	}
	text.WriteString(plural(len(out.Turns), "turn", "turns") + " of session " + id)
	if out.NextAfter > 0 {
		fmt.Fprintf(&text, "; after %d gets the next", out.NextAfter)
	}
	return result{out, text.String()}, nil
}

// turnsOfPage cuts turns to a page of at most limit, and returns the seq that the
// next one begins after; 0 when there is none. Turns of one seq stay together.
func turnsOfPage(turns []state.Turn, limit int) (page []state.Turn, next int64) {
	size := 0
	for i, t := range turns {
		begins := i > 0 && t.Seq != turns[i-1].Seq
		if begins && (i >= limit || size+len(t.Content) > turnBytesMax) {
			return turns[:i], turns[i-1].Seq
		}
		size += len(t.Content)
	}
	return turns, 0
}

func appendTurn(ctx context.Context, c *call) (result, error) {
	in := wire.TurnWrite{ID: c.args.text("turn_id"), Role: c.args.text("role"), Content: c.args.text("content")}
	if fault := in.Fault(); fault != "" {
		return result{}, api.NewProblem(wire.CodeInvalid, fault)
	}
	t, err := c.node.State().Sessions().AppendTurn(ctx, state.Turn{
		ID: in.ID, SessionID: c.args.text("session_id"), Role: in.Role, Content: in.Content,
	})
	if err != nil {
		return result{}, err
	}
	return result{c.turn(t, nil), fmt.Sprintf("turn %s is number %d of session %s", api.Named(t.ID), t.Seq, api.Named(t.SessionID)) + gatedOf(t.Secrets).note()}, nil
}
