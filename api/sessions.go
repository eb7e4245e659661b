package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// sessions serves /v1/sessions.
type sessions struct{ store state.SessionStore }

func (s sessions) register(h *handler) {
	register(h, operation{
		route: "GET /v1/sessions", id: "list-sessions", tag: "sessions", summary: "Every live session of the home scope, oldest first",
		codes: []wire.Code{wire.CodeInvalid},
	}, s.list)
	register(h, operation{
		route: "POST /v1/sessions", id: "create-session", tag: "sessions", summary: "Begin a session",
		status: http.StatusCreated, codes: []wire.Code{wire.CodeConflict, wire.CodeClock, wire.CodeDiskFull},
	}, s.post)
	register(h, operation{
		route: "GET /v1/sessions/{id}", id: "get-session", tag: "sessions", summary: "One session, without its turns",
		codes: []wire.Code{wire.CodeNotFound},
	}, s.get)
	register(h, operation{
		route: "DELETE /v1/sessions/{id}", id: "delete-session", tag: "sessions", summary: "Delete a session, with its turns",
		status: http.StatusNoContent, codes: []wire.Code{wire.CodeNotFound, wire.CodeClock, wire.CodeDiskFull}, responses: gone(),
	}, s.delete)
	register(h, operation{
		route: "GET /v1/sessions/{id}/turns", id: "list-turns", tag: "sessions", summary: "The transcript of a session",
		text:  "Turns of machines that were apart may have one seq. A page never divides them, so it may be longer than its limit by those.",
		codes: []wire.Code{wire.CodeInvalid, wire.CodeNotFound},
	}, s.turns)
	register(h, operation{
		route: "POST /v1/sessions/{id}/turns", id: "append-turn", tag: "sessions", summary: "Append a turn to a session",
		text:   "A turn that is sent again under its id is not added twice.",
		status: http.StatusCreated, codes: append(writeCodes(), wire.CodeNotFound),
	}, s.append)
}

type sessionListInput struct{ PageQuery }

type sessionListOutput struct{ Body wire.SessionList }

const sessionCursor = "sessions"

func (s sessions) list(ctx context.Context, in *sessionListInput) (*sessionListOutput, error) {
	place, err := readCursor(sessionCursor, in.Cursor, 2)
	if err != nil {
		return nil, err
	}
	var after func(state.Session) bool
	if place != nil {
		created, err := readTime("sessions", place[0])
		if err != nil {
			return nil, err
		}
		after = func(ses state.Session) bool {
			return cmp.Or(ses.CreatedAt.Compare(created), cmp.Compare(ses.ID, place[1])) > 0
		}
	}
	found, err := s.store.List(ctx)
	if err != nil {
		return nil, err
	}
	page, next := pageOf(sessionCursor, found, in.Limit, after, func(ses state.Session) []string {
		return []string{timePlace(ses.CreatedAt), ses.ID}
	})
	list := wire.SessionList{SchemaVersion: wire.SchemaVersion, Sessions: make([]wire.Session, 0, len(page)), NextCursor: next}
	for _, ses := range page {
		list.Sessions = append(list.Sessions, wireSession(ses))
	}
	return &sessionListOutput{list}, nil
}

type sessionPostInput struct{ Body wire.SessionWrite }

type sessionOutput struct{ Body wire.SessionReply }

func (s sessions) post(ctx context.Context, in *sessionPostInput) (*sessionOutput, error) {
	if reason := in.Body.Fault(); reason != "" {
		return nil, newProblem(wire.CodeInvalid, reason)
	}
	created, err := s.store.Create(ctx, state.Session{ID: in.Body.ID, Title: in.Body.Title, Model: in.Body.Model})
	if err != nil {
		return nil, err
	}
	return sessionReply(created), nil
}

type sessionInput struct {
	ID string `path:"id" doc:"The id of the session."`
}

func (s sessions) get(ctx context.Context, in *sessionInput) (*sessionOutput, error) {
	ses, err := s.store.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return sessionReply(ses), nil
}

func (s sessions) delete(ctx context.Context, in *sessionInput) (*done, error) {
	return nil, s.store.Delete(ctx, in.ID)
}

type turnListInput struct {
	ID    string `path:"id" doc:"The id of the session."`
	After int64  `query:"after" minimum:"0" doc:"Only turns with a larger seq."`
	PageQuery
}

type turnListOutput struct{ Body wire.TurnList }

const turnCursor = "turns"

func (s sessions) turns(ctx context.Context, in *turnListInput) (*turnListOutput, error) {
	place, err := readCursor(turnCursor, in.Cursor, 1)
	if err != nil {
		return nil, err
	}
	after := in.After
	if place != nil {
		seq, err := strconv.ParseInt(place[0], 10, 64)
		if err != nil || after != 0 {
			return nil, newProblem(wire.CodeInvalid, "a cursor says where the page begins: it is one of this list, and stands without after")
		}
		after = seq
	}
	found, err := s.store.Turns(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	page := turnsAfter(found, after, in.Limit)
	list := wire.TurnList{SchemaVersion: wire.SchemaVersion, Turns: make([]wire.Turn, 0, len(page))}
	for _, t := range page {
		list.Turns = append(list.Turns, wireTurn(t))
	}
	if n := len(page); n > 0 && page[n-1].Seq < found[len(found)-1].Seq {
		list.NextCursor = writeCursor(turnCursor, []string{strconv.FormatInt(page[n-1].Seq, 10)})
	}
	return &turnListOutput{list}, nil
}

// turnsAfter returns the turns after a number, at most limit (0: all) and those
// that share the number of the last: turns of machines that were apart have one
// number, and the next page begins after it.
func turnsAfter(turns []state.Turn, after int64, limit int) []state.Turn {
	begin, _ := slices.BinarySearchFunc(turns, after, func(t state.Turn, after int64) int {
		if t.Seq > after {
			return 1
		}
		return -1
	})
	page := turns[begin:]
	if limit == 0 || limit >= len(page) {
		return page
	}
	for limit < len(page) && page[limit].Seq == page[limit-1].Seq {
		limit++
	}
	return page[:limit]
}

type turnPostInput struct {
	ID   string `path:"id" doc:"The id of the session."`
	Body wire.TurnWrite
}

type turnOutput struct{ Body wire.TurnReply }

func (s sessions) append(ctx context.Context, in *turnPostInput) (*turnOutput, error) {
	if reason := in.Body.Fault(); reason != "" {
		return nil, newProblem(wire.CodeInvalid, reason)
	}
	t, err := s.store.AppendTurn(ctx, state.Turn{ID: in.Body.ID, SessionID: in.ID, Role: in.Body.Role, Content: in.Body.Content})
	if err != nil {
		return nil, err
	}
	return &turnOutput{wire.TurnReply{SchemaVersion: wire.SchemaVersion, Turn: wireTurn(t)}}, nil
}

func sessionReply(ses state.Session) *sessionOutput {
	return &sessionOutput{wire.SessionReply{SchemaVersion: wire.SchemaVersion, Session: wireSession(ses)}}
}
