package state

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// MustNotExist as the SyncVersion of a write makes it create only: it fails
// with ErrConflict when the record is live. One that is deleted is revived.
const MustNotExist int64 = -1

// Envelope is the replication metadata that every record carries. Readers get
// it complete; of what a writer passes only three things count: SyncVersion
// and the stamp, which are compared, and OriginInstanceID of a new record.
type Envelope struct {
	// SyncVersion counts the versions of a record from 1. A write that passes
	// a non-zero one succeeds only if it still is the stored record's;
	// UpdatedHLC and LastWriterID, when set, must match then too, because a
	// merge may bring another record of the same SyncVersion.
	SyncVersion int64
	// OriginInstanceID is the instance that created the record: kept as the
	// creator passed it, else the writer. It is a claim.
	OriginInstanceID string
	// UpdatedHLC is the stamp of the last write.
	UpdatedHLC hlc.Timestamp
	// LastWriterID is the instance that made the last write: the text of its
	// peer id, or the name of an instance without a key.
	LastWriterID string
	// Deleted marks a tombstone. It is ignored in writes: deleting is for
	// Delete.
	Deleted bool
}

// envelopeOf is the view of a record's envelope that callers see.
func envelopeOf(e merge.Envelope) Envelope {
	writer := e.LastWriterID.String()
	origin := writer
	if e.OriginInstanceID != e.LastWriterID {
		origin = e.OriginInstanceID.String()
	}
	return Envelope{
		SyncVersion:      e.SyncVersion,
		OriginInstanceID: origin,
		UpdatedHLC:       e.UpdatedHLC,
		LastWriterID:     writer,
		Deleted:          e.Deleted,
	}
}

// compareAndSet checks what a writer passed against the stored envelope; nil
// when there is no record. Errors: ErrConflict.
func compareAndSet(stored *Envelope, passed Envelope) error {
	switch {
	case passed.SyncVersion == 0:
		return nil
	case passed.SyncVersion == MustNotExist:
		if stored != nil && !stored.Deleted {
			return fmt.Errorf("%w: it exists already, with sync version %d", ErrConflict, stored.SyncVersion)
		}
	case stored == nil:
		return fmt.Errorf("%w: sync version %d of a record that does not exist", ErrConflict, passed.SyncVersion)
	case passed.SyncVersion != stored.SyncVersion:
		return fmt.Errorf("%w: sync version %d, the stored one is %d", ErrConflict, passed.SyncVersion, stored.SyncVersion)
	case !passed.UpdatedHLC.IsZero() && passed.UpdatedHLC != stored.UpdatedHLC,
		passed.LastWriterID != "" && passed.LastWriterID != stored.LastWriterID:
		return fmt.Errorf("%w: sync version %d was meanwhile written by %s at %s",
			ErrConflict, stored.SyncVersion, stored.LastWriterID, stored.UpdatedHLC)
	}
	return nil
}

// compareToken is compareAndSet for deletes, of which there is none of what is
// deleted already. Errors: ErrConflict.
func compareToken(stored, token Envelope) error {
	if stored.Deleted {
		return nil
	}
	return compareAndSet(&stored, token)
}

// parseInstance reads the text of an instance id. Errors: ErrInvalid.
func parseInstance(text string) (merge.InstanceID, error) {
	id, err := merge.ParseInstanceID(text)
	if err != nil {
		return "", fmt.Errorf("%w: instance id: %w", ErrInvalid, err)
	}
	return id, nil
}
