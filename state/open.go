package state

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/ids"
	"github.com/fleetsync/fleetd/store"
)

// Signer is the identity that a provider writes as. It is safe for concurrent
// use.
type Signer interface {
	// InstanceID returns the id of the Ed25519 key that Sign uses.
	InstanceID() merge.InstanceID
	// Fleet returns the fleet that records are written for. It is not zero.
	Fleet() merge.FleetID
	// Sign returns the Ed25519 signature of message.
	Sign(message []byte) ([]byte, error)
}

// localInstance is who writes unsigned records unless told otherwise.
const localInstance = "local"

// Config says how Open serves a store. The zero value is ready: unsigned
// records by "local", the global scope, system time.
type Config struct {
	// Name is what Provider.Name says; empty means "store".
	Name string
	// Signer signs every record. nil means unsigned records, which no peer
	// accepts: for a store without a fleet.
	Signer Signer
	// InstanceID is who writes when Signer is nil: text of 1 to 128 bytes
	// without control characters; empty means "local".
	InstanceID string
	// Scope is the home scope: where looking up a slug begins.
	Scope Scope
	// Clock is the source of CreatedAt and UpdatedAt; nil means clock.System.
	// Stamps come from the store's clock.
	Clock clock.Clock
	// IDs mints ids; nil means UUIDv7 by Clock and crypto/rand.
	IDs *ids.Generator
	// Admit judges each record before it is committed: what it returns makes
	// the write fail with ErrDenied. It is called concurrently and must not
	// use the store. nil admits all.
	Admit func(*merge.Record) error
	// SnapshotCodec seals what Snapshot saves, and opens what Replay restores; nil
	// saves and restores it as it is.
	SnapshotCodec eventlog.SnapshotCodec
	// SnapshotEvery saves a snapshot after so many successful writes, as far as
	// that goes: a failure fails no write. 0 is never.
	SnapshotEvery int
	// InlineBytes is how long the content of a skill, an item or a turn may be that
	// is part of its record; longer content is stored beside it. 0 means
	// InlineBytesDefault, which is also the most. Callers see no difference.
	InlineBytes int

	// Gate says what happens to a skill, an item, a session or a turn that is
	// written here and holds a secret; empty means GateOff. It needs a store that
	// keeps its own events.
	Gate GateMode
	// OnSecret is told of each write in which the gate has found something, after it
	// is done. It is called concurrently. nil tells nobody.
	OnSecret func(Noticed)

	// log takes the events in the place of the store; only for a store that nobody
	// else writes to.
	log       eventlog.Log
	upcasters eventlog.Upcasters
}

// replica implements Replica over a store.
type replica struct {
	name    string
	store   *store.Store
	signer  Signer // nil: unsigned
	writer  merge.InstanceID
	home    []Scope // the home scope and what lies outward of it
	stamper *Stamper
	admit   func(*merge.Record) error

	gate     GateMode
	onSecret func(Noticed)

	recorder      *recorder // nil: the store makes the events
	codec         eventlog.SnapshotCodec
	snapshotEvery int
	inlineBytes   int
	writes        atomic.Int64 // that succeeded
	saving        sync.Mutex   // held while a snapshot is saved in the store
}

// Open returns the provider of a store that was opened with Indexer{}. The
// provider owns the store: Close closes it. A store that belongs to nobody is
// the signer's from then on (see Own). Errors: ErrInvalid for a Config that
// cannot be, ErrForeignStore, those of the store.
func Open(st *store.Store, cfg Config) (Replica, error) {
	p, err := open(st, cfg)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func open(st *store.Store, cfg Config) (*replica, error) {
	scope, err := scopeText(cfg.Scope)
	if err != nil {
		return nil, fmt.Errorf("state: home scope: %w", err)
	}
	if err := cfg.checkGate(); err != nil {
		return nil, err
	}
	p := &replica{name: cfg.Name, gate: cfg.Gate, onSecret: cfg.OnSecret, store: st, signer: cfg.Signer, home: outward(scope), admit: cfg.Admit, codec: cfg.SnapshotCodec, snapshotEvery: cfg.SnapshotEvery}
	if p.inlineBytes = cfg.InlineBytes; p.inlineBytes <= 0 || p.inlineBytes > InlineBytesDefault {
		p.inlineBytes = InlineBytesDefault
	}
	if cfg.log != nil {
		p.recorder = newRecorder(cfg.log)
	}
	if _, indexed := st.Indexer().(Indexer); !indexed {
		return nil, fmt.Errorf("%w: a store that was opened without state.Indexer: nothing would be found in it", ErrInvalid)
	}
	if p.name == "" {
		p.name = "store"
	}
	if p.writer, err = writerOf(st, cfg); err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.IDs == nil {
		cfg.IDs = ids.NewGenerator(ids.WithClock(cfg.Clock), ids.WithEntropy(rand.Reader))
	}
	if p.snapshotEvery > 0 && p.recorder == nil {
		if err := p.countWrites(); err != nil {
			return nil, err
		}
	}
	p.stamper = NewStamper(p.writer.String(), cfg.Clock, st.Clock(), cfg.IDs)
	return p, nil
}

// writerOf returns who writes to a store, whose owner that becomes. Errors as
// Open.
func writerOf(st *store.Store, cfg Config) (merge.InstanceID, error) {
	switch {
	case cfg.Signer == nil:
		return parseInstance(cmp.Or(cfg.InstanceID, localInstance))
	case cfg.InstanceID != "":
		return "", fmt.Errorf("%w: both a signer and an instance id", ErrInvalid)
	}
	writer := cfg.Signer.InstanceID()
	if _, ok := writer.PublicKey(); !ok || cfg.Signer.Fleet() == (merge.FleetID{}) {
		return "", fmt.Errorf("%w: a signer without a key or a fleet", ErrInvalid)
	}
	return writer, Own(context.Background(), st, Owner{Instance: writer, Fleet: cfg.Signer.Fleet()})
}

// countWrites goes on counting towards the next snapshot where the process before
// left off.
func (p *replica) countWrites() error {
	ctx := context.Background()
	saved, err := storeLog{p}.savedHead(ctx)
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return err
	}
	end, err := p.eventHead(ctx)
	p.writes.Store(max(0, end-saved.Seq))
	return err
}

// Log implements Replica.
func (p *replica) Log() eventlog.Log {
	if p.recorder != nil {
		return p.recorder.log
	}
	return storeLog{p}
}

// Name implements Provider.
func (p *replica) Name() string                 { return p.name }
func (p *replica) Sessions() SessionStore       { return sessions{p} }
func (p *replica) Skills() SkillStore           { return skills{p} }
func (p *replica) Memory() MemoryStore          { return memory{p} }
func (p *replica) SkillLibrary() SkillLibrary   { return skills{p} }
func (p *replica) MemoryLibrary() MemoryLibrary { return memory{p} }

// Close implements Provider.
func (p *replica) Close() error {
	if p.recorder != nil {
		p.recorder.close()
	}
	return p.store.Close()
}

// view runs fn over one snapshot unless ctx has ended.
func (p *replica) view(ctx context.Context, fn func(r *store.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.store.View(fn)
}

// nothing is what a scope that cannot be written holds; like any other list, it
// fails when the provider is closed. Errors: those of view.
func nothing[T any](ctx context.Context, p *replica) ([]T, error) {
	if err := p.view(ctx, func(*store.Reader) error { return nil }); err != nil {
		return nil, err
	}
	return []T{}, nil
}

// write commits the one version that build returns, or nothing. build may run
// several times.
func (p *replica) write(ctx context.Context, lock string, build func(r *store.Reader) (merge.Record, error)) error {
	return p.writeAll(ctx, lock, func(r *store.Reader) ([]merge.Record, error) {
		rec, err := build(r)
		if err != nil {
			return nil, err
		}
		return []merge.Record{rec}, nil
	})
}

// writeAll is write for any number of versions; none is no write.
func (p *replica) writeAll(ctx context.Context, lock string, build func(r *store.Reader) ([]merge.Record, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	if p.recorder != nil {
		err = p.recorder.write(ctx, p.store, lock, build)
	} else {
		err = p.store.Write(ctx, lock, build)
	}
	if err != nil {
		return err
	}
	if n := p.writes.Add(1); p.snapshotEvery > 0 && n%int64(p.snapshotEvery) == 0 {
		_ = p.Snapshot(ctx) // best effort: the write is done
	}
	return nil
}

// unused returns a minted id that names nothing yet, the given one or another: a
// generator may begin again where one before it did.
func (p *replica) unused(r *store.Reader, id string, keyOf func(id string) merge.Key) (string, error) {
	for {
		taken, err := head(r, keyOf(id))
		if taken == nil || err != nil {
			return id, err
		}
		id = p.stamper.mint()
	}
}

// lockOf is the lock of writers of one key.
func lockOf(key merge.Key) string { return key.Section().ID() + key.Order() }

// head returns the head of a key, tombstones included; nil when there is none.
func head(r *store.Reader, key merge.Key) (*merge.Record, error) {
	rec, err := r.Head(key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // no record is an answer, not an error
	case err != nil:
		return nil, fmt.Errorf("state: read %s: %w", key, err)
	}
	return &rec, nil
}
