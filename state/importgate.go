package state

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// judgeImported is judge for a record of a snapshot: what was held where it was
// exported is held here too, whatever the gate.
func (im *importer) judgeImported(held string, scope Scope, texts ...string) verdict {
	v := im.judge(scope, texts...)
	if held != "" && scope.Instance == "" {
		if v.rules == "" {
			v.rules = held
		}
		v.hold, v.warn = true, false
	}
	return v
}

// seen returns what an import is compared with: what is held already where it would
// be held, unless the record itself says the same.
func (im *importer) seen(r *store.Reader, key merge.Key, v verdict) (*merge.Record, error) {
	at, err := im.shown(r, key)
	if err != nil {
		return nil, err
	}
	if place, ok := im.heldPlace(key); ok && v.hold && at == key {
		if held, err := head(r, place); err != nil || heldBy(held) != "" {
			return held, err
		}
	}
	return head(r, at)
}

// tell counts what an import has held back, and tells whoever listens.
func (im *importer) tell(key merge.Key, v verdict, outcome imported, err error) {
	if err != nil || outcome == importedEqual {
		return
	}
	if v.hold {
		im.result.Held++
		key, _ = im.heldPlace(key)
	}
	if !im.dryRun {
		im.noticed(key, v)
	}
}

// replacing returns an imported record, with the tombstone of what was held in its
// place and is now as it was meant.
func (im *importer) replacing(r *store.Reader, rec merge.Record, was *merge.Record) ([]merge.Record, error) {
	if heldBy(was) == "" || was.Key == rec.Key {
		return []merge.Record{rec}, nil
	}
	return im.with(r, rec, target{key: rec.Key, retire: was})
}
