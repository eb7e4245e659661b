package fleet

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Floor is the statement that tombstones of a section are collected: versions
// of the keys that it lists, stamped at or before their entries, are
// inadmissible, whoever wrote them, tombstones included. Versions of other keys
// are not touched, however old. Floors add up.
type Floor struct {
	// Section is where the keys are; never the fleet's own family.
	Section merge.Section
	// Entries are 1 to 4,000, ascending by key, which are distinct.
	Entries []FloorEntry
}

// FloorEntry is the floor of one key.
type FloorEntry struct {
	Key KeyHash
	// Stamp is the newest that is inadmissible: that of the key's tombstone. It
	// is at least FloorHorizonMin older than the statement.
	Stamp hlc.Timestamp
}

// KeyHash names a key within its section: the beginning of the SHA-256 of its
// order key. See FloorKeyHash.
type KeyHash [8]byte

// floorEntryBytes is the encoded size of an entry: the hash of the key, then
// the binary form of the stamp.
const floorEntryBytes = len(KeyHash{}) + hlc.Size

// wireFloor is the body of a fleet.floor. Keys 1 and 2 are those of every
// statement, see wireStatement. Evolution is that of wireGrant.
type wireFloor struct {
	Issuer  merge.InstanceID `cbor:"1,keyasint"`
	Stamp   uint64           `cbor:"2,keyasint"`
	Family  string           `cbor:"3,keyasint"`
	Scope   wireScope        `cbor:"4,keyasint"`
	Entries []byte           `cbor:"5,keyasint"` // 16 bytes each
}

// FloorKeyHash returns the hash by which floors list a key.
func FloorKeyHash(key merge.Key) KeyHash {
	// The longest order key, so that nothing is allocated for any.
	b := make([]byte, 0, 64+1+4*257)
	b = append(b, key.Kind...)
	b = append(b, 0)
	b = append(b, key.ID...)
	sum := sha256.Sum256(b)
	return KeyHash(sum[:len(KeyHash{})])
}

// SealFloor makes the signed record of a floor at stamp, a new one of the
// issuer's clock. It orders the entries and keeps the newest of each key.
// Whether the issuer may state it is for Authority.Judge. Errors: ErrMalformed,
// and what the signer returns.
func SealFloor(fleet merge.FleetID, issuer Signer, f Floor, stamp hlc.Timestamp) (merge.Record, error) {
	f.Entries = slices.SortedFunc(slices.Values(f.Entries), func(a, b FloorEntry) int {
		return cmp.Or(bytes.Compare(a.Key[:], b.Key[:]), b.Stamp.Compare(a.Stamp))
	})
	f.Entries = slices.CompactFunc(f.Entries, func(a, b FloorEntry) bool { return a.Key == b.Key })
	if !stamp.Valid() || stamp.IsZero() {
		return merge.Record{}, fmt.Errorf("%w: floor stamped %s", ErrMalformed, stamp)
	}
	if err := f.validate(stamp); err != nil {
		return merge.Record{}, err
	}
	w := wireFloor{
		Issuer: issuer.ID(), Stamp: stamp.Pack(), Family: f.Section.Family,
		Scope: wireScope{Instance: f.Section.Scope.Instance, Project: f.Section.Scope.Project, Workspace: f.Section.Scope.Workspace},
	}
	for _, e := range f.Entries {
		w.Entries = e.Stamp.AppendBinary(append(w.Entries, e.Key[:]...))
	}
	body, err := merge.Marshal(w)
	if err != nil {
		return merge.Record{}, err
	}
	return sealStatement(fleet, issuer, KindFloor, body, stamp)
}

// FloorOf returns the floor that a fleet.floor record states. Errors:
// ErrMalformed.
func FloorOf(rec *merge.Record) (Floor, error) {
	if rec.Key.Kind != KindFloor {
		return Floor{}, fmt.Errorf("%w: %s is not a floor", ErrMalformed, rec.Key)
	}
	var w wireFloor
	if err := merge.Unmarshal(rec.Body, &w); err != nil {
		return Floor{}, fmt.Errorf("%w: floor: %w", ErrMalformed, err)
	}
	if len(w.Entries)%floorEntryBytes != 0 || len(w.Entries) > floorEntriesMax*floorEntryBytes {
		return Floor{}, fmt.Errorf("%w: floor with entries of %d bytes", ErrMalformed, len(w.Entries))
	}
	f := Floor{Section: merge.Section{
		Family: w.Family,
		Scope:  merge.Scope{Instance: w.Scope.Instance, Project: w.Scope.Project, Workspace: w.Scope.Workspace},
	}}
	for entry := range slices.Chunk(w.Entries, floorEntryBytes) {
		stamp, err := hlc.DecodeBinary(entry[len(KeyHash{}):])
		if err != nil {
			return Floor{}, fmt.Errorf("%w: floor: %w", ErrMalformed, err)
		}
		f.Entries = append(f.Entries, FloorEntry{Key: KeyHash(entry[:len(KeyHash{})]), Stamp: stamp})
	}
	return f, f.validate(rec.Envelope.UpdatedHLC)
}

// validate checks the form of a floor that is stated at stamp.
func (f *Floor) validate(stamp hlc.Timestamp) error {
	key := merge.Key{Kind: f.Section.Family, Scope: f.Section.Scope, ID: "x"}
	switch {
	case key.Validate() != nil || key.Family() != f.Section.Family || f.Section.Family == Family:
		return fmt.Errorf("%w: floor under %.200q", ErrMalformed, f.Section)
	case len(f.Entries) < 1 || len(f.Entries) > floorEntriesMax:
		return fmt.Errorf("%w: floor of %d keys, 1 to %d", ErrMalformed, len(f.Entries), floorEntriesMax)
	}
	newest := stamp
	newest.Wall -= FloorHorizonMin.Milliseconds()
	for i, e := range f.Entries {
		switch {
		case i > 0 && bytes.Compare(f.Entries[i-1].Key[:], e.Key[:]) >= 0:
			return fmt.Errorf("%w: keys of a floor not ascending", ErrMalformed)
		case !e.Stamp.Valid() || e.Stamp.IsZero() || e.Stamp.After(newest):
			return fmt.Errorf("%w: floor at %s, stated at %s: it must be %s older", ErrMalformed, e.Stamp, stamp, FloorHorizonMin)
		}
	}
	return nil
}

// sectionFloor is what the floors of one section come to.
type sectionFloor struct {
	statements []*stated // in merge order
	newest     map[KeyHash]hlc.Timestamp
}

// layFloors joins the floors in force by section. What last has of a section is
// taken over when it is of the same statements: a floor has thousands of keys.
func layFloors(inForce []*stated, last map[merge.Section]*sectionFloor) map[merge.Section]*sectionFloor {
	var floors map[merge.Section]*sectionFloor
	for _, st := range inForce {
		if st.topic != topicFloor {
			continue
		}
		if floors == nil {
			floors = map[merge.Section]*sectionFloor{}
		}
		of := floors[st.floor.Section]
		if of == nil {
			of = &sectionFloor{}
			floors[st.floor.Section] = of
		}
		of.statements = append(of.statements, st)
	}
	for section, of := range floors {
		if before := last[section]; before != nil && slices.Equal(before.statements, of.statements) {
			floors[section] = before
			continue
		}
		of.newest = map[KeyHash]hlc.Timestamp{}
		for _, st := range of.statements {
			for _, e := range st.floor.Entries {
				if e.Stamp.After(of.newest[e.Key]) {
					of.newest[e.Key] = e.Stamp
				}
			}
		}
	}
	return floors
}
