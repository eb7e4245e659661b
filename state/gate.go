package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/secrets"
	"github.com/fleetsync/fleetd/store"
)

// The gate looks for secrets in what this instance writes, before it is a record.
// What holds one is written all the same, but under the scope that it was meant
// for with this instance in it: such a section never leaves the machine. A write
// that says nothing of an instance therefore has two places: the one that it names,
// and its held place. What is live at the first is what readers see; only where
// nothing is do they see what is held. So a held update hides nothing that others
// write, and what was new is found by whoever wrote it.

// GateMode says what happens to what this instance writes when it holds a secret.
type GateMode string

const (
	// GateHold writes it where it stays on this machine, until it is released.
	GateHold GateMode = "hold"
	// GateWarn writes it as it was meant, and says what was found.
	GateWarn GateMode = "warn"
	// GateOff does not look.
	GateOff GateMode = "off"
)

// Secrets is what the gate says of a record. Writers need not set it: it is ignored.
type Secrets struct {
	// Held names the rules by which the record was held back, separated by spaces:
	// it stays on this machine, and the scope of the record has this instance. It
	// is empty for any other record.
	Held string `json:",omitempty"`
	// Warned names the rules that found something in what was just written and goes
	// out all the same. Only the result of a write has it.
	Warned string `json:",omitempty"`
}

// Noticed is what the gate has found in one write.
type Noticed struct {
	// Key is that of the record as it was written, without what secrets it holds.
	Kind, Key string
	Scope     Scope
	// Rules are the ids of the rules, each once.
	Rules []string
	// Held says that it was held back.
	Held bool
}

// verdict is what the gate says of a write.
type verdict struct {
	rules string
	hold  bool
	warn  bool
}

// judge looks for secrets in the texts of a write to a scope.
func (p *replica) judge(scope Scope, texts ...string) verdict {
	if p.gate == GateOff || scope.Instance != "" && scope.Instance != p.stamper.InstanceID() {
		return verdict{}
	}
	var found []string
	for _, text := range texts {
		found = append(found, secrets.Rules(secrets.Find(text))...)
	}
	slices.Sort(found)
	v := verdict{rules: strings.Join(slices.Compact(found), " ")}
	leaves := v.rules != "" && scope.Instance == ""
	v.hold, v.warn = leaves && p.gate == GateHold, leaves && p.gate == GateWarn
	return v
}

// warned is what the result of a write says besides Held.
func (v verdict) warned() string {
	if v.warn {
		return v.rules
	}
	return ""
}

// noticed tells of a write that was done. The key is told without what it holds.
func (p *replica) noticed(key merge.Key, v verdict) {
	if p.onSecret == nil || !v.hold && !v.warn {
		return
	}
	name := strings.Join(key.ID.Components(), "/")
	p.onSecret(Noticed{
		Kind: key.Kind, Key: secrets.Redact(name, secrets.Find(name)), Scope: key.Scope,
		Rules: strings.Fields(v.rules), Held: v.hold,
	})
}

// heldScope is where what is meant for a scope is held; ok is false for a scope that
// never leaves anyway.
func (p *replica) heldScope(scope Scope) (held Scope, ok bool) {
	if scope.Instance != "" {
		return scope, false
	}
	scope.Instance = p.stamper.InstanceID()
	return scope, true
}

// heldPlace is heldScope for a key.
func (p *replica) heldPlace(key merge.Key) (held merge.Key, ok bool) {
	key.Scope, ok = p.heldScope(key.Scope)
	return key, ok
}

// meantFor is the inverse of heldScope.
func meantFor(scope Scope) Scope {
	scope.Instance = ""
	return scope
}

// heldIn is what a body says of being held, where that can be: others may say so in a
// body that they share.
func heldIn(rec *merge.Record, rules string) Secrets {
	if rec.Key.Scope.Instance == "" {
		return Secrets{}
	}
	return Secrets{Held: rules}
}

// heldBy returns the rules by which a live record is held; "" for any other.
func heldBy(rec *merge.Record) string {
	if rec == nil || rec.Envelope.Deleted || rec.Key.Scope.Instance == "" {
		return ""
	}
	switch rec.Key.Kind {
	case kindSkill:
		if sk, err := decodeSkill(rec); err == nil {
			return sk.Held
		}
	case kindMemory:
		if it, err := decodeMemoryBody(rec); err == nil {
			return it.Held
		}
	case kindSession:
		if ses, err := decodeSession(rec); err == nil {
			return ses.Held
		}
	case kindTurn:
		if t, err := decodeTurn(rec); err == nil {
			return t.Held
		}
	}
	return ""
}

// shown returns where what readers see of a key lies: at the key, or in its held
// place where nothing is live at the key and something is held.
func (p *replica) shown(r *store.Reader, key merge.Key) (merge.Key, error) {
	place, ok := p.heldPlace(key)
	if !ok {
		return key, nil
	}
	rec, err := head(r, key)
	if err != nil || rec != nil && !rec.Envelope.Deleted {
		return key, err
	}
	held, err := head(r, place)
	if err != nil || heldBy(held) == "" {
		return key, err
	}
	return place, nil
}

// target is where a write goes.
type target struct {
	key merge.Key
	// held are the rules by which it is held there.
	held string
	// retire is what is held, and was seen by the writer as that which it replaces;
	// nil for nothing.
	retire *merge.Record
	// checked says that the condition of the write was looked at here.
	checked bool
}

// targetOf decides where a write goes that is meant for a key, under the condition
// that the writer passed. The condition is on what readers see. Errors: ErrConflict,
// those of the store.
func (p *replica) targetOf(r *store.Reader, key merge.Key, passed Envelope, v verdict) (target, error) {
	place, leaves := p.heldPlace(key)
	if !leaves {
		// A write over what is held stays held, even when nothing is found any more:
		// only its release says that it may leave.
		was, err := head(r, key)
		held := heldBy(was)
		if held != "" {
			held = cmp.Or(v.rules, held)
		}
		return target{key: key, held: held}, err
	}
	at, err := p.shown(r, key)
	if err != nil || at == key && !v.hold {
		return target{key: key}, err
	}
	seen, err := head(r, at)
	if err != nil {
		return target{}, err
	}
	var stored *Envelope
	if seen != nil {
		e := envelopeOf(seen.Envelope)
		stored = &e
	}
	if err := compareAndSet(stored, passed); err != nil {
		return target{}, err
	}
	if v.hold {
		return target{key: place, held: v.rules, checked: true}, nil
	}
	return target{key: key, retire: seen, checked: true}, nil
}

// condition is what is left of the condition of a write to be looked at there.
func (t *target) condition(passed Envelope) Envelope {
	if t.checked {
		return Envelope{OriginInstanceID: passed.OriginInstanceID}
	}
	return passed
}

// with returns the records of a write to a target: what was written, and the
// tombstone of what it replaces.
func (p *replica) with(r *store.Reader, written merge.Record, t target) ([]merge.Record, error) {
	if t.retire == nil {
		return []merge.Record{written}, nil
	}
	gone, err := p.tombstone(r, t.retire)
	return []merge.Record{written, gone}, err
}

// tombstone makes the version that deletes a record of a kind that is held.
func (p *replica) tombstone(r *store.Reader, rec *merge.Record) (merge.Record, error) {
	before := envelopeOf(rec.Envelope)
	stamped, err := p.stamper.stamp(&before, Envelope{}, true)
	if err != nil {
		return merge.Record{}, err
	}
	kind, err := contentOf(rec.Key)
	if err != nil {
		return merge.Record{}, err
	}
	body, err := kind.next(rec, rec, true, storedClock(p.stamper.clock.Now()))
	if err != nil {
		return merge.Record{}, err
	}
	return p.version(r, rec.Key, stamped, body)
}

// deleteShown deletes what readers see of a key, and what is held beside it: that
// must not come to light by the delete.
func (p *replica) deleteShown(
	ctx context.Context, lock string, key merge.Key, build func(r *store.Reader, key merge.Key) (merge.Record, error),
) error {
	return p.writeAll(ctx, lock, func(r *store.Reader) ([]merge.Record, error) {
		at, err := p.shown(r, key)
		if err != nil {
			return nil, err
		}
		gone, err := build(r, at)
		if err != nil || at != key {
			return []merge.Record{gone}, err
		}
		beside, err := p.retired(r, key)
		return append([]merge.Record{gone}, beside...), err
	})
}

// retired is the tombstone of what is held beside a record that is deleted, if
// something is: it must not come to light by that.
func (p *replica) retired(r *store.Reader, key merge.Key) ([]merge.Record, error) {
	place, ok := p.heldPlace(key)
	if !ok {
		return nil, nil
	}
	held, err := head(r, place)
	if err != nil || heldBy(held) == "" {
		return nil, err
	}
	gone, err := p.tombstone(r, held)
	return []merge.Record{gone}, err
}

// checkGate refuses a gate that there is not. Errors: ErrInvalid.
func (cfg *Config) checkGate() error {
	switch cfg.Gate {
	case "":
		cfg.Gate = GateOff
	case GateOff:
	case GateHold, GateWarn:
		if cfg.log != nil {
			return fmt.Errorf("%w: a gate for secrets of a provider whose events go to a log of the caller's, which would have them", ErrInvalid)
		}
	default:
		return fmt.Errorf("%w: gate %q, want hold, warn or off", ErrInvalid, string(cfg.Gate))
	}
	return nil
}

// heldRows calls fn for each row of an index under the held place of a scope that
// leads to something held, in the order of the index.
func (p *replica) heldRows(r *store.Reader, scope Scope, fn func(rest []string) error, index string, more ...string) error {
	held, ok := p.heldScope(scope)
	if !ok {
		return nil
	}
	return scanIndex(r, func(rest []string, value []byte) (bool, error) {
		if string(value) != indexHeld {
			return true, nil
		}
		return true, fn(rest)
	}, append([]string{index, scopeID(held)}, more...)...)
}

// isHidden reports whether a key that an index row leads to is held while the record
// that it was meant to replace is live, so that readers see that one.
func isHidden(r *store.Reader, key merge.Key, row []byte) (bool, error) {
	if string(row) != indexHeld {
		return false, nil
	}
	key.Scope = meantFor(key.Scope)
	rec, err := head(r, key)
	return rec != nil && !rec.Envelope.Deleted, err
}
