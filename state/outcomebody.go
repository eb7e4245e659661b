package state

import (
	"encoding/hex"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// outcomeMax is the largest count of one store: no store counts that far, and
// sums of many thousands of stores stay exact.
const outcomeMax = 1 << 48

// outcomeBody follows the law of body.go. A tombstone of this kind keeps
// nothing: a store that counts again begins at zero.
type outcomeBody struct {
	Uses int64 `cbor:"4,keyasint,omitempty"`
	Wins int64 `cbor:"5,keyasint,omitempty"`
}

// outcomeKey is the record key of what one store counts of a skill, which is in
// the skill's section. Scope, slug and store are normal.
func outcomeKey(o Outcome) merge.Key {
	return merge.Key{Kind: kindOutcome, Scope: o.Scope, ID: merge.NewID(o.Slug, o.StoreID)}
}

// encodeOutcome returns the body of a stamped outcome.
func encodeOutcome(o Outcome) (encoded, error) {
	return encodeBody(kindOutcome, outcomeBody{Uses: o.Uses, Wins: o.Wins})
}

// decodeOutcome is decodeSkill for outcome records.
func decodeOutcome(rec *merge.Record) (Outcome, error) {
	scope, names, err := decodeKeyOf(rec, slugText, storeText)
	if err != nil {
		return Outcome{}, err
	}
	var body outcomeBody
	into := any(&body)
	if rec.Envelope.Deleted {
		into = &tombstoneBody{}
	}
	if err := decodeBody(rec, into); err != nil {
		return Outcome{}, err
	}
	if err := checkCounts(body.Uses, body.Wins); err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", rec.Key, err)
	}
	return Outcome{
		Slug: names[0], Scope: scope, StoreID: names[1], Uses: body.Uses, Wins: body.Wins,
		Envelope: envelopeOf(rec.Envelope),
	}, nil
}

// normalOutcome is normalSkill for outcomes. Their slug is one that can be
// read, not one that could be written here: skills of others are used too.
func normalOutcome(o Outcome) (Outcome, error) {
	var err error
	if o.Scope, err = scopeText(o.Scope); err != nil {
		return Outcome{}, err
	}
	if o.Slug, err = slugText(o.Slug); err != nil {
		return Outcome{}, err
	}
	_, err = storeText(o.StoreID)
	return o, err
}

// storeText checks the text of a store.ID: 32 lower-case hexadecimal digits.
// Errors: ErrInvalid.
func storeText(s string) (string, error) {
	id, err := hex.DecodeString(s)
	if err != nil || len(id) != len(store.ID{}) || hex.EncodeToString(id) != s {
		return "", fmt.Errorf("%w: store %.60q is not 32 lower-case hexadecimal digits", ErrInvalid, s)
	}
	return s, nil
}

// checkCounts returns ErrInvalid for counts that no store has.
func checkCounts(uses, wins int64) error {
	if min(uses, wins) < 0 || max(uses, wins) > outcomeMax {
		return fmt.Errorf("%w: uses %d, wins %d", ErrInvalid, uses, wins)
	}
	return nil
}
