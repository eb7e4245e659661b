package state

import (
	"cmp"

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
	sessions images[Session]
	turns    images[Turn]
	skills   images[Skill]
	items    images[MemoryItem]
	outcomes images[Outcome]
	sums     map[merge.Key]outcomeSums // of the outcomes, by skill
	claims   map[merge.Key]claim       // by skill
	turned   map[string]int64          // by session: its turns so far
	skipped  Skipped
}

func newProjection(home Scope, upcast eventlog.Upcasters) *projection {
	return &projection{
		home: home, upcast: upcast,
		sessions: newImages[Session](), turns: newImages[Turn](),
		skills: newImages[Skill](), items: newImages[MemoryItem](),
		outcomes: newImages[Outcome](), turned: map[string]int64{},
		sums: map[merge.Key]outcomeSums{}, claims: map[merge.Key]claim{},
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
		if held, errHeld := p.applyHeld(e); held || errHeld != nil {
			return errHeld
		}
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
		return p.takeSession(ses, turns)
	case EvTurnAppended, evTurnDeleted:
		// The image of its session says nothing more: turns are counted in the end.
		t, err := DecodeTurn(e.Payload)
		if err != nil {
			return err
		}
		return p.takeTurn(t)
	case EvSkillUpserted, EvSkillDeleted:
		sk, err := DecodeSkill(e.Payload)
		if _, credited := e.Payload[payloadOutcome]; credited && err == nil {
			err = p.applyOutcome(e.Payload)
		}
		if err != nil {
			return err
		}
		return p.takeSkill(sk)
	case EvOutcomeRecorded, evOutcomeDeleted:
		return p.applyOutcome(e.Payload)
	case EvMemoryWritten, EvMemoryDeleted:
		it, err := DecodeMemoryItem(e.Payload)
		if err != nil {
			return err
		}
		return p.takeItem(it)
	}
	return nil
}

// takeSession takes the image of a session that counts so many turns.
func (p *projection) takeSession(ses Session, turns int64) error {
	if err := ses.check(); err != nil {
		return err
	}
	p.sessions.set(sessionKey(p.home, ses.ID), discount(ses, turns))
	return nil
}

func (p *projection) takeTurn(t Turn) error {
	if err := t.check(); err != nil {
		return err
	}
	if p.turns.set(turnKey(p.home, t.SessionID, t.ID), t) {
		p.turned[t.SessionID]++
	}
	return nil
}

// takeSkill takes the image of a skill. Totals above what outcomes add up to are
// claimed: those of a host that knows no outcomes.
func (p *projection) takeSkill(sk Skill) error {
	if err := sk.check(); err != nil {
		return err
	}
	key := skillKey(sk.Scope, sk.Slug)
	if counted := p.sums[key].shownBy(Skill{}); sk.Uses > counted.Uses || sk.Wins > counted.Wins {
		known := p.claims[key]
		p.claims[key] = claim{uses: max(known.uses, sk.Uses-counted.Uses), wins: max(known.wins, sk.Wins-counted.Wins)}
	}
	sk.Uses, sk.Wins = 0, 0
	p.skills.set(key, sk)
	return nil
}

func (p *projection) takeItem(it MemoryItem) error {
	if err := it.check(); err != nil {
		return err
	}
	p.items.set(memoryKey(it.Scope, it.ID), it)
	return nil
}

func (p *projection) takeOutcome(o Outcome) error {
	if err := o.check(); err != nil {
		return err
	}
	key, skill := outcomeKey(o), skillKey(o.Scope, o.Slug)
	p.sums[skill] = p.sums[skill].minus(sumsOf(p.outcomes.get(key))).plus(sumsOf(o))
	p.outcomes.set(key, o)
	return nil
}

func (p *projection) applyOutcome(payload map[string]any) error {
	o, err := DecodeOutcome(payload)
	if err != nil {
		return err
	}
	return p.takeOutcome(o)
}

// hide drops the image of a record that a later version of it hides.
func (p *projection) hide(record map[string]any) error {
	r := payloadReader{fields: record}
	key := merge.Key{Kind: r.text("Kind"), Scope: r.scope("Scope"), ID: merge.NewID(r.texts("ID")...)}
	if r.err == nil {
		p.drop(key)
	}
	return r.err
}

// drop forgets the image of a record.
func (p *projection) drop(key merge.Key) {
	switch key.Kind {
	case kindSession:
		p.sessions.delete(key)
	case kindTurn:
		p.turns.delete(key)
	case kindSkill:
		p.skills.delete(key)
	case kindMemory:
		p.items.delete(key)
	case kindOutcome:
		p.outcomes.delete(key)
	}
}

// applyRecord takes the image that a record of a store is, as apply takes that of
// the event which eventOf makes of it.
func (p *projection) applyRecord(rec *merge.Record) {
	eventType := Indexer{}.EventType(rec.Key.Kind, rec.Envelope.Deleted)
	if p.isHeldPlace(rec.Key) && p.takeHeldRecord(rec) {
		return
	}
	known, hidden := true, false
	switch rec.Key.Kind {
	case kindSession:
		hidden = keep(&p.sessions, rec, p.home, decodeSession)
	case kindTurn:
		hidden = keep(&p.turns, rec, p.home, decodeTurn)
	case kindSkill:
		hidden = keep(&p.skills, rec, rec.Key.Scope, decodeSkill)
	case kindMemory:
		hidden = keep(&p.items, rec, rec.Key.Scope, decodeMemory)
	case kindOutcome:
		hidden = keep(&p.outcomes, rec, rec.Key.Scope, decodeOutcome)
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
func keep[T any](images *images[T], rec *merge.Record, scope Scope, decode func(*merge.Record) (T, error)) (hidden bool) {
	image, err := decode(rec)
	switch {
	case err != nil:
		images.delete(rec.Key)
	case rec.Key.Scope == scope:
		images.set(rec.Key, image)
	}
	return err != nil
}

// begin starts from a snapshot instead of from nothing. Errors: ErrInvalid.
func (p *projection) begin(s Snapshot) error {
	p.lastSeq, p.saved = s.LastSeq, s.LastSeq
	return cmp.Or(
		takeAll(s.Turns, p.takeTurn),
		takeAll(s.Sessions, func(ses Session) error { return p.takeSession(ses, p.turned[ses.ID]) }),
		takeAll(s.Outcomes, p.takeOutcome),
		takeAll(s.Skills, p.takeSkill),
		takeAll(s.Items, p.takeItem),
	)
}

func takeAll[T any](list []T, take func(T) error) error {
	for i := range list {
		if err := take(list[i]); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns what was folded.
func (p *projection) snapshot() Snapshot {
	s := Snapshot{
		LastSeq: p.lastSeq, Home: p.home,
		Sessions: p.sessions.list(), Turns: p.turns.list(), Skills: p.skills.list(), Items: p.items.list(), Outcomes: p.outcomes.list(),
	}
	s.credit(p.claims)
	s.count()
	return s.sorted()
}
