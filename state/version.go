package state

import (
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// supersede gives the basis and the sync version of a write by writer at stamp
// over what a key holds: merge.Supersede, merge.SupersedeAll, or another choice
// of what it covers.
type supersede func(held []merge.Version, own *merge.Version, writer merge.InstanceID, stamp hlc.Timestamp) (merge.Basis, int64)

// version is versionOver for an ordinary write: it covers the head and leaves
// conflicts as they are.
func (p *replica) version(r *store.Reader, key merge.Key, stamped Envelope, enc encoded) (merge.Record, error) {
	return p.versionOver(r, key, stamped, enc, merge.Supersede)
}

// versionOver makes the next version of a key of a stamped envelope and a body,
// for every kind alike: its basis and its sync version follow from what the
// key holds (the largest held, conflicts included, plus one: that may be more
// than the stamper counted from the head), and it is sealed, signed and
// admitted. Errors: ErrInvalid, ErrDenied, those of the store and the signer.
func (p *replica) versionOver(
	r *store.Reader, key merge.Key, stamped Envelope, enc encoded, covers supersede,
) (merge.Record, error) {
	held, err := r.Held(key)
	if err != nil {
		return merge.Record{}, fmt.Errorf("state: read %s: %w", key, err)
	}
	// A held version of one's own is the newest; only without one does history
	// matter, and its scan is worth saving.
	var own *merge.Version
	if !slices.ContainsFunc(held, func(h store.Held) bool { return h.Writer == p.writer }) {
		if own, err = r.OwnCovered(key, p.writer); err != nil {
			return merge.Record{}, fmt.Errorf("state: read history of %s: %w", key, err)
		}
	}
	origin, err := parseInstance(stamped.OriginInstanceID)
	if err != nil {
		return merge.Record{}, err
	}
	basis, syncVersion := covers(store.Versions(held), own, p.writer, stamped.UpdatedHLC)
	rec, err := p.seal(merge.Record{
		Key: key,
		Envelope: merge.Envelope{
			SyncVersion:      syncVersion,
			OriginInstanceID: origin,
			UpdatedHLC:       stamped.UpdatedHLC,
			LastWriterID:     p.writer,
			Deleted:          stamped.Deleted,
		},
		Basis: basis,
		Body:  enc.body,
		Blobs: enc.blobs(),
	})
	if err != nil {
		return merge.Record{}, fmt.Errorf("state: seal %s: %w", key, err)
	}
	if p.admit != nil {
		if err := p.admit(&rec); err != nil {
			return merge.Record{}, fmt.Errorf("%w: %s: %w", ErrDenied, key, err)
		}
	}
	return rec, nil
}

func (p *replica) seal(draft merge.Record) (merge.Record, error) {
	if p.signer == nil {
		return merge.Seal(draft, merge.Unsigned, nil)
	}
	draft.Fleet = p.signer.Fleet()
	return merge.Seal(draft, merge.Ed25519, p.signer.Sign)
}
