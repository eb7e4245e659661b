package main

import (
	"encoding/json"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// A part is what one request imports: few records, since each costs a sync of
// the disk and a request has to end in time, and less than the daemon takes.
const (
	partRecordsMax = 200
	partBytesMax   = 256 << 10
	// recordBytesMax leaves room for a session beside a turn.
	recordBytesMax = wire.ImportBytesMax - 1<<20
)

// statePart is one part of a state.
type statePart struct {
	state.Snapshot
	// ofTurns says that its sessions were in an earlier part: they are in it once
	// more since their turns need them.
	ofTurns bool
}

// partsOf divides what a snapshot holds live, sessions before their turns. What
// no part has room for, and no store, is refused.
func partsOf(s state.Snapshot) ([]statePart, []wire.ImportRefusal) {
	var p packer
	of := map[string]state.Session{}
	gone := map[string]bool{}
	for _, ses := range s.Sessions {
		if gone[ses.ID] = ses.Deleted; ses.Deleted {
			continue
		}
		p.add("session", []string{ses.ID}, wire.Scope{}, ses, func(part *statePart) {
			of[ses.ID] = ses
			part.Sessions = append(part.Sessions, ses)
		})
	}
	p.end()
	last := ""
	for _, t := range s.Turns {
		if t.Deleted || gone[t.SessionID] {
			continue
		}
		p.add("session.turn", []string{t.SessionID, t.ID}, wire.Scope{}, t, func(part *statePart) {
			part.ofTurns = true
			ses, known := of[t.SessionID]
			if known && (len(part.Sessions) == 0 || last != t.SessionID) {
				part.Sessions = append(part.Sessions, ses)
				p.bytes += sizeOf(ses)
			}
			last = t.SessionID
			part.Turns = append(part.Turns, t)
		})
	}
	p.end()
	for _, sk := range s.Skills {
		if !sk.Deleted {
			p.add("skill", []string{sk.Slug}, wire.Scope(sk.Scope), sk, func(part *statePart) { part.Skills = append(part.Skills, sk) })
		}
	}
	for _, it := range s.Items {
		if !it.Deleted {
			p.add("memory", []string{it.ID}, wire.Scope(it.Scope), it, func(part *statePart) { part.Items = append(part.Items, it) })
		}
	}
	p.end()
	return p.parts, p.refused
}

// packer fills parts.
type packer struct {
	parts   []statePart
	refused []wire.ImportRefusal
	open    statePart
	records int
	bytes   int
}

// add puts a record into the open part, or into the next when that is full.
func (p *packer) add(kind string, key []string, scope wire.Scope, record any, put func(*statePart)) {
	size := sizeOf(record)
	if size > recordBytesMax {
		p.refused = append(p.refused, wire.ImportRefusal{Kind: kind, Key: strings.Join(key, "/"), Scope: scope, Reason: "too large: a text holds 8 MiB"})
		return
	}
	if p.records == partRecordsMax || p.bytes+size > partBytesMax && p.records > 0 {
		p.end()
	}
	p.records++
	p.bytes += size
	put(&p.open)
}

// end closes the open part, unless it is empty.
func (p *packer) end() {
	if p.records > 0 {
		p.parts = append(p.parts, p.open)
	}
	p.open, p.records, p.bytes = statePart{}, 0, 0
}

// sizeOf is about how many bytes a record takes in a part.
func sizeOf(record any) int {
	raw, err := json.Marshal(record)
	if err != nil {
		return recordBytesMax + 1 // no record of a snapshot that was read fails
	}
	return len(raw) + 1
}

// addTo adds what became of the part.
func (p *statePart) addTo(total *wire.ImportReply, reply wire.ImportReply) {
	if p.ofTurns { // its sessions were counted before
		reply.Sessions = wire.ImportCounts{}
	}
	for _, k := range [...]struct{ sum, more *wire.ImportCounts }{
		{&total.Sessions, &reply.Sessions}, {&total.Turns, &reply.Turns}, {&total.Skills, &reply.Skills}, {&total.Items, &reply.Items},
	} {
		k.sum.Created += k.more.Created
		k.sum.Updated += k.more.Updated
		k.sum.Equal += k.more.Equal
		k.sum.Refused += k.more.Refused
	}
	for _, refusal := range reply.Refused {
		if !p.ofTurns || refusal.Kind != "session" {
			total.Refused = append(total.Refused, refusal)
		}
	}
}

// countOf are the counts of a kind.
func countOf(total *wire.ImportReply, kind string) *wire.ImportCounts {
	switch kind {
	case "session":
		return &total.Sessions
	case "session.turn":
		return &total.Turns
	case "skill":
		return &total.Skills
	default:
		return &total.Items
	}
}
