package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// sessions serves /v1/sessions.
type sessions struct{ store state.SessionStore }

func (s sessions) list(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	found, err := s.store.List(r.Context())
	if err != nil {
		return reply{}, err
	}
	list := wire.SessionList{SchemaVersion: wire.SchemaVersion, Sessions: make([]wire.Session, 0, len(found))}
	for _, ses := range found {
		list.Sessions = append(list.Sessions, wireSession(ses))
	}
	return ok(list), nil
}

func (s sessions) post(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.SessionWrite
	_, err := readBody(w, r, &in)
	if err := errors.Join(paramsOf(r).done(), err); err != nil {
		return reply{}, err
	}
	if reason := in.Fault(); reason != "" {
		return reply{}, newProblem(wire.CodeInvalid, reason)
	}
	created, err := s.store.Create(r.Context(), state.Session{ID: in.ID, Title: in.Title, Model: in.Model})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, body: sessionReply(created)}, nil
}

func (s sessions) get(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	ses, err := s.store.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	return ok(sessionReply(ses)), nil
}

func (s sessions) delete(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, s.store.Delete(r.Context(), r.PathValue("id"))
}

func (s sessions) turns(r *http.Request) (reply, error) {
	p := paramsOf(r)
	after, limit := p.place("after"), p.count("limit")
	if err := p.done(); err != nil {
		return reply{}, err
	}
	found, err := s.store.Turns(r.Context(), r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	found = pageOf(found, after, limit)
	list := wire.TurnList{SchemaVersion: wire.SchemaVersion, Turns: make([]wire.Turn, 0, len(found))}
	for _, t := range found {
		list.Turns = append(list.Turns, wireTurn(t))
	}
	return ok(list), nil
}

// pageOf returns the turns after a number, at most limit (0: all) and those that
// share the number of the last: turns of machines that were apart have one number,
// and the next page begins after it.
func pageOf(turns []state.Turn, after int64, limit int) []state.Turn {
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

func (s sessions) append(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.TurnWrite
	_, err := readBody(w, r, &in)
	if err := errors.Join(paramsOf(r).done(), err); err != nil {
		return reply{}, err
	}
	if reason := in.Fault(); reason != "" {
		return reply{}, newProblem(wire.CodeInvalid, reason)
	}
	t, err := s.store.AppendTurn(r.Context(), state.Turn{ID: in.ID, SessionID: r.PathValue("id"), Role: in.Role, Content: in.Content})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, body: wire.TurnReply{SchemaVersion: wire.SchemaVersion, Turn: wireTurn(t)}}, nil
}

func sessionReply(ses state.Session) wire.SessionReply {
	return wire.SessionReply{SchemaVersion: wire.SchemaVersion, Session: wireSession(ses)}
}
