package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// ImportResult says what an import has done, or would do.
type ImportResult struct {
	Sessions ImportCounts
	Turns    ImportCounts
	Skills   ImportCounts
	Items    ImportCounts
	// Held are those of Created and Updated that the gate for secrets has held back:
	// they stay on this machine, see Gatekeeper.
	Held int
	// Refused are the records that were not written, in the order of the import.
	Refused []ImportRefusal
}

// ImportCounts counts records of one kind.
type ImportCounts struct {
	// Created are records that were not live here.
	Created int
	// Updated are records that said something else here.
	Updated int
	// Equal are records that said the same here. Nothing was written.
	Equal int
	// Refused are those of ImportResult.Refused.
	Refused int
}

// ImportRefusal is a record that cannot be written here.
type ImportRefusal struct {
	// Key is as the snapshot has it; of a session or turn without a scope.
	Key    merge.Key
	Reason string
}

// ReadSnapshot is UnmarshalSnapshot for a file that somebody names: one that is
// not a whole snapshot is refused too, be it any other JSON or text that is not
// UTF-8. Errors: ErrInvalid.
func ReadSnapshot(payload []byte) (Snapshot, error) {
	if !utf8.Valid(payload) {
		return Snapshot{}, fmt.Errorf("%w: snapshot: it is not UTF-8", ErrInvalid)
	}
	// Each list of a snapshot is there, be it empty; a decoder leaves one that is
	// not as it was.
	missing := Snapshot{LastSeq: -1}
	if err := unmarshalSnapshot(payload, &missing); err != nil {
		return Snapshot{}, err
	}
	if missing.LastSeq < 0 || missing.Sessions == nil || missing.Turns == nil || missing.Skills == nil || missing.Items == nil {
		return Snapshot{}, fmt.Errorf("%w: snapshot: it is JSON, and not that of a snapshot", ErrInvalid)
	}
	return missing.sorted(), nil
}

// Import implements Replica.
func (p *replica) Import(ctx context.Context, s Snapshot, dryRun bool) (ImportResult, error) {
	im := importer{replica: p, dryRun: dryRun, sessions: map[string]importedSession{}}
	s = s.sorted()
	for _, ses := range s.Sessions {
		if err := im.session(ctx, ses); err != nil {
			return im.result, fmt.Errorf("state: import session %.60q: %w", ses.ID, err)
		}
	}
	for _, t := range s.Turns {
		if err := im.turn(ctx, t); err != nil {
			return im.result, fmt.Errorf("state: import turn %.60q of session %.60q: %w", t.ID, t.SessionID, err)
		}
	}
	for _, sk := range s.Skills {
		if err := im.skill(ctx, sk); err != nil {
			return im.result, fmt.Errorf("state: import skill %.60q: %w", sk.Slug, err)
		}
	}
	for _, it := range s.Items {
		if err := im.item(ctx, it); err != nil {
			return im.result, fmt.Errorf("state: import memory item %.60q: %w", it.ID, err)
		}
	}
	return im.result, nil
}

// importer is one import.
type importer struct {
	*replica
	dryRun   bool
	result   ImportResult
	sessions map[string]importedSession // by the id of the snapshot
}

// importedSession is what became of a session: its turns depend on it.
type importedSession struct {
	ses     Session
	deleted bool // in the snapshot
	refused bool
}

// imported is what became of one record.
type imported int

const (
	importedEqual imported = iota
	importedCreated
	importedUpdated
)

// count adds what became of a record; a refusal is reported. Other errors are
// returned.
func (im *importer) count(counts *ImportCounts, key merge.Key, outcome imported, err error) error {
	if err != nil {
		for _, refusal := range []error{ErrInvalid, ErrConflict, ErrTooLarge, ErrDenied, ErrNotFound, ErrIncomplete} {
			if errors.Is(err, refusal) {
				counts.Refused++
				im.result.Refused = append(im.result.Refused, ImportRefusal{key, err.Error()})
				return nil
			}
		}
		return err
	}
	switch outcome {
	case importedEqual:
		counts.Equal++
	case importedCreated:
		counts.Created++
	case importedUpdated:
		counts.Updated++
	}
	return nil
}

// put writes the record that build makes of texts, the first of which is apart
// unless that is nil; unless it is equal or the import a dry run, which does all the same but for
// the commit.
func (im *importer) put(
	ctx context.Context, lock string, texts []string, build func(r *store.Reader, apart *merge.BlobRef) ([]merge.Record, imported, error),
) (imported, error) {
	apart, release, err := im.keep(ctx, texts[0], texts[1:]...)
	if err != nil {
		return 0, err
	}
	defer release()
	var outcome imported
	err = im.writeAll(ctx, lock, func(r *store.Reader) ([]merge.Record, error) {
		recs, became, err := build(r, apart)
		if outcome = became; err != nil || im.dryRun || outcome == importedEqual {
			return nil, err
		}
		return recs, nil
	})
	return outcome, err
}

// becomes says what a write over a head is, and whether the head says the same
// already as the live record that is imported. Errors: those of the store.
func becomes[T any](r *store.Reader, head *merge.Record, decode func(*merge.Record) (T, error), same func(T) bool) (imported, error) {
	if head == nil || head.Envelope.Deleted {
		return importedCreated, nil
	}
	head, err := whole(r, head)
	if err != nil {
		return 0, err
	}
	if stored, err := decode(head); err == nil {
		if same(stored) {
			return importedEqual, nil
		}
		return importedUpdated, nil
	}
	return importedCreated, nil // it is hidden here
}

func (im *importer) skill(ctx context.Context, sk Skill) error {
	if sk.Deleted {
		return nil
	}
	passed := skillKey(sk.Scope, sk.Slug)
	// What is counted is counted in records of its own, and who wrote it before is
	// only a claim.
	sk.Envelope, sk.Uses, sk.Wins = Envelope{}, 0, 0
	wasHeld := sk.Held
	if wasHeld != "" {
		sk.Scope, sk.ID = meantFor(sk.Scope), ""
	}
	sk, err := normalSkill(sk)
	if err != nil {
		return im.count(&im.result.Skills, passed, 0, err)
	}
	s := skills{im.replica}
	v := im.judgeImported(wasHeld, sk.Scope, append([]string{sk.Body, sk.Slug, sk.ID}, skillTexts(sk)...)...)
	outcome, err := im.put(ctx, skillLock(sk), append([]string{sk.Body}, skillTexts(sk)...), func(r *store.Reader, apart *merge.BlobRef) ([]merge.Record, imported, error) {
		was, err := im.seen(r, skillKey(sk.Scope, sk.Slug), v)
		if err != nil {
			return nil, 0, err
		}
		outcome, err := becomes(r, was, decodeSkill, func(stored Skill) bool {
			return stored.Name == sk.Name && stored.Body == sk.Body && stored.Check == sk.Check && slices.Equal(stored.Tags, sk.Tags)
		})
		if err != nil || outcome == importedEqual {
			return nil, outcome, err
		}
		_, recs, err := s.upsertion(r, sk, apart, v)
		return recs, outcome, err
	})
	im.tell(skillKey(sk.Scope, sk.Slug), v, outcome, err)
	return im.count(&im.result.Skills, passed, outcome, err)
}

func (im *importer) item(ctx context.Context, it MemoryItem) error {
	if it.Deleted {
		return nil
	}
	passed := memoryKey(it.Scope, it.ID)
	it.Envelope = Envelope{}
	wasHeld := it.Held
	if wasHeld != "" {
		it.Scope = meantFor(it.Scope)
	}
	it, err := normalMemory(it)
	if err == nil && it.ID == "" {
		_, err = idText("") // a snapshot names every item
	}
	if err != nil {
		return im.count(&im.result.Items, passed, 0, err)
	}
	m, key := memory{im.replica}, memoryKey(it.Scope, it.ID)
	v := im.judgeImported(wasHeld, it.Scope, memoryTexts(it)...)
	outcome, err := im.put(ctx, key.Order(), []string{it.Content, it.Kind, it.Source}, func(r *store.Reader, apart *merge.BlobRef) ([]merge.Record, imported, error) {
		was, err := im.seen(r, key, v)
		if err != nil {
			return nil, 0, err
		}
		outcome, err := becomes(r, was, decodeMemory, func(stored MemoryItem) bool {
			return stored.Kind == it.Kind && stored.Content == it.Content && stored.Source == it.Source
		})
		if err != nil || outcome == importedEqual {
			return nil, outcome, err
		}
		if err := m.checkScope(r, it); err != nil {
			return nil, 0, err
		}
		_, recs, err := m.upsertion(r, it, apart, v)
		return recs, outcome, err
	})
	im.tell(key, v, outcome, err)
	return im.count(&im.result.Items, passed, outcome, err)
}
