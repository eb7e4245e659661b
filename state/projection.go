package state

import (
	"maps"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// projection is what folding the state stream gives: the newest image of each
// record. It belongs to one goroutine.
type projection struct {
	home     Scope
	upcast   eventlog.Upcasters
	lastSeq  int64
	saved    int64 // Seq of the snapshot that it began with
	sessions map[merge.Key]Session
	turns    map[merge.Key]Turn
	skills   map[merge.Key]Skill
	items    map[merge.Key]MemoryItem
	outcomes map[merge.Key]Outcome
	sums     map[merge.Key]outcomeSums // of the outcomes, by skill
	claims   map[merge.Key]outcomeSums // by skill: what its images had above the sums of then
	turned   map[string]int64          // by session: its turns so far
	skipped  Skipped
}

func newProjection(home Scope, upcast eventlog.Upcasters) *projection {
	return &projection{
		home: home, upcast: upcast,
		sessions: map[merge.Key]Session{}, turns: map[merge.Key]Turn{},
		skills: map[merge.Key]Skill{}, items: map[merge.Key]MemoryItem{},
		outcomes: map[merge.Key]Outcome{}, turned: map[string]int64{},
		sums: map[merge.Key]outcomeSums{}, claims: map[merge.Key]outcomeSums{},
		skipped: Skipped{},
	}
}

// apply takes the images of one event. What this build does not know is skipped
// and counted by type. Errors: ErrInvalid, that of an upcaster.
func (p *projection) apply(e eventlog.Event) error {
	e, result, err := p.upcast.Apply(e)
	if err != nil {
		return err
	}
	if !result.Usable() || !isKnownEvent(e.Type) {
		p.skipped[e.Type]++
		return nil
	}
	if record, ok := e.Payload[payloadRecord].(map[string]any); ok {
		p.skipped[e.Type]++
		return p.hide(record)
	}
	if home, err := p.isHome(e.Payload); err != nil || !home {
		p.skipped[e.Type+ofAnotherScope]++
		return err
	}
	return p.applyImages(e)
}

// ofAnotherScope marks what is skipped because it is a session elsewhere.
const ofAnotherScope = " of another scope"

// isKnownEvent reports whether a type is one whose payload this build reads.
func isKnownEvent(eventType string) bool {
	switch eventType {
	case EvSessionCreated, EvTurnAppended, EvSessionDeleted, evTurnDeleted,
		EvSkillUpserted, EvSkillDeleted, EvMemoryWritten, EvMemoryDeleted, EvOutcomeRecorded, evOutcomeDeleted:
		return true
	}
	return false
}

// isHome reports whether an event is of the home scope, as far as it says.
func (p *projection) isHome(payload map[string]any) (bool, error) {
	if _, told := payload[payloadScope]; !told {
		return true, nil
	}
	r := payloadReader{fields: payload}
	scope := r.scope(payloadScope)
	return scope == p.home, r.err
}

func (p *projection) applyImages(e eventlog.Event) error {
	switch e.Type {
	case EvSessionCreated, EvSessionDeleted:
		ses, err := DecodeSession(e.Payload)
		if err != nil {
			return err
		}
		turns, told := p.turned[ses.ID], false
		if _, told = e.Payload[payloadTurns]; told {
			r := payloadReader{fields: e.Payload}
			if turns = r.number(payloadTurns); r.err != nil {
				return r.err
			}
		}
		p.sessions[sessionKey(p.home, ses.ID)] = discount(ses, turns)
	case EvTurnAppended, evTurnDeleted:
		// The image of its session says nothing more: turns are counted in the end.
		t, err := DecodeTurn(e.Payload)
		if err != nil {
			return err
		}
		p.takeTurn(t)
	case EvSkillUpserted, EvSkillDeleted:
		sk, err := DecodeSkill(e.Payload)
		if _, credited := e.Payload[payloadOutcome]; credited && err == nil {
			err = p.applyOutcome(e.Payload)
		}
		if err != nil {
			return err
		}
		p.takeSkill(sk)
	case EvOutcomeRecorded, evOutcomeDeleted:
		return p.applyOutcome(e.Payload)
	case EvMemoryWritten, EvMemoryDeleted:
		it, err := DecodeMemoryItem(e.Payload)
		if err != nil {
			return err
		}
		p.items[memoryKey(it.Scope, it.ID)] = it
	}
	return nil
}

func (p *projection) takeTurn(t Turn) {
	key := turnKey(p.home, t.SessionID, t.ID)
	if _, known := p.turns[key]; !known {
		p.turned[t.SessionID]++
	}
	p.turns[key] = t
}

// takeSkill takes the image of a skill. Totals above what outcomes add up to are
// claimed: those of a host that knows no outcomes.
func (p *projection) takeSkill(sk Skill) {
	key := skillKey(sk.Scope, sk.Slug)
	if counted := p.sums[key].shownBy(Skill{}); sk.Uses > counted.Uses || sk.Wins > counted.Wins {
		claim := p.claims[key]
		p.claims[key] = outcomeSums{
			uses: max(claim.uses, uint64(max(0, sk.Uses-counted.Uses))), wins: max(claim.wins, uint64(max(0, sk.Wins-counted.Wins))),
		}
	}
	sk.Uses, sk.Wins = 0, 0
	p.skills[key] = sk
}

func (p *projection) takeOutcome(o Outcome) {
	key, skill := outcomeKey(o), skillKey(o.Scope, o.Slug)
	p.sums[skill] = p.sums[skill].minus(sumsOf(p.outcomes[key])).plus(sumsOf(o))
	p.outcomes[key] = o
}

func (p *projection) applyOutcome(payload map[string]any) error {
	o, err := DecodeOutcome(payload)
	if err != nil {
		return err
	}
	p.takeOutcome(o)
	return nil
}

// hide drops the image of a record that a later version of it hides.
func (p *projection) hide(record map[string]any) error {
	r := payloadReader{fields: record}
	key := merge.Key{Kind: r.text("Kind"), Scope: r.scope("Scope"), ID: merge.NewID(r.texts("ID")...)}
	if r.err != nil {
		return r.err
	}
	switch key.Kind {
	case kindSession:
		delete(p.sessions, key)
	case kindTurn:
		delete(p.turns, key)
	case kindSkill:
		delete(p.skills, key)
	case kindMemory:
		delete(p.items, key)
	case kindOutcome:
		delete(p.outcomes, key)
	}
	return nil
}

// applyRecord takes the image that a record of a store is, as apply takes that of
// the event which eventOf makes of it.
func (p *projection) applyRecord(rec *merge.Record) {
	eventType := Indexer{}.EventType(rec.Key.Kind, rec.Envelope.Deleted)
	known, hidden := true, false
	switch rec.Key.Kind {
	case kindSession:
		hidden = keep(p.sessions, rec, p.home, decodeSession)
	case kindTurn:
		hidden = keep(p.turns, rec, p.home, decodeTurn)
	case kindSkill:
		hidden = keep(p.skills, rec, rec.Key.Scope, decodeSkill)
	case kindMemory:
		hidden = keep(p.items, rec, rec.Key.Scope, decodeMemory)
	case kindOutcome:
		hidden = keep(p.outcomes, rec, rec.Key.Scope, decodeOutcome)
	default:
		known = false
	}
	switch {
	case !known, hidden:
		p.skipped[eventType]++
	case rec.Key.Family() == kindSession && rec.Key.Scope != p.home:
		p.skipped[eventType+ofAnotherScope]++
	}
}

// keep puts the image of a record in its place when it is of a scope, and takes
// away what was there when it is hidden.
func keep[T any](images map[merge.Key]T, rec *merge.Record, scope Scope, decode func(*merge.Record) (T, error)) (hidden bool) {
	image, err := decode(rec)
	switch {
	case err != nil:
		delete(images, rec.Key)
	case rec.Key.Scope == scope:
		images[rec.Key] = image
	}
	return err != nil
}

// begin starts from a snapshot instead of from nothing.
func (p *projection) begin(s Snapshot) {
	p.lastSeq, p.saved = s.LastSeq, s.LastSeq
	for _, t := range s.Turns {
		p.takeTurn(t)
	}
	for _, ses := range s.Sessions {
		p.sessions[sessionKey(p.home, ses.ID)] = discount(ses, p.turned[ses.ID])
	}
	for _, o := range s.Outcomes {
		p.takeOutcome(o)
	}
	for _, sk := range s.Skills {
		p.takeSkill(sk)
	}
	for _, it := range s.Items {
		p.items[memoryKey(it.Scope, it.ID)] = it
	}
}

// snapshot returns what was folded.
func (p *projection) snapshot() Snapshot {
	s := Snapshot{
		LastSeq: p.lastSeq, Home: p.home,
		Sessions: images(p.sessions), Turns: images(p.turns), Skills: images(p.skills), Items: images(p.items), Outcomes: images(p.outcomes),
	}
	s.credit(p.claims)
	s.count()
	return s.sorted()
}

func images[T any](of map[merge.Key]T) []T {
	return slices.AppendSeq(make([]T, 0, len(of)), maps.Values(of))
}
