package mergetest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// HistoryConfig says what a history may hold. The zero value is one key,
// written without signatures by up to five writers in up to twelve steps.
type HistoryConfig struct {
	// Keys is how many keys are written, at least 1; zero means 1.
	Keys int
	// StepsMax bounds the writes and deliveries; zero means 12.
	StepsMax int
	// Clones makes the first two replicas write under one identity.
	Clones bool
	// Signed signs every record for Fleet; else they are unsigned.
	Signed bool
}

// History is what the replicas of a fleet wrote, all of it, in the order of
// writing: each record after those that its writer had seen.
type History struct{ Records []merge.Record }

// Versions returns the versions of a key, in the order of writing.
func (h History) Versions(key merge.Key) []merge.Version {
	var versions []merge.Version
	for i := range h.Records {
		if r := &h.Records[i]; r.Key == key {
			versions = append(versions, r.Version())
		}
	}
	return versions
}

// Keys returns the keys of the history in the order of their first version.
func (h History) Keys() []merge.Key {
	var keys []merge.Key
	seen := map[merge.Key]bool{}
	for i := range h.Records {
		if k := h.Records[i].Key; !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// Histories draws honest histories of 2 to 5 replicas that write, delete,
// resurrect and settle conflicts while versions pass between them late, out of
// order, repeatedly or not at all.
func Histories(cfg HistoryConfig) *rapid.Generator[History] {
	return rapid.Custom(func(t *rapid.T) History {
		keys := rapid.SliceOfNDistinct(Key(), max(cfg.Keys, 1), max(cfg.Keys, 1), rapid.ID).Draw(t, "keys")
		replicas := make([]*Replica, rapid.IntRange(2, 5).Draw(t, "replicas"))
		for i := range replicas {
			number := byte(i + 1)
			if cfg.Clones && i == 1 {
				number = 1
			}
			replicas[i] = NewReplica(NewIdentity(number), cfg.Signed)
			replicas[i].Skew(rapid.Int64Range(-2, 2).Draw(t, "skew"))
		}
		var h History
		stepsMax := cfg.StepsMax
		if stepsMax == 0 {
			stepsMax = 12
		}
		for range rapid.IntRange(1, stepsMax).Draw(t, "steps") {
			at := replicas[rapid.IntRange(0, len(replicas)-1).Draw(t, "at")]
			at.Pass(rapid.Int64Range(0, 1).Draw(t, "ms"))
			if len(h.Records) > 0 && rapid.Bool().Draw(t, "deliver") {
				at.Receive(h.Records[rapid.IntRange(0, len(h.Records)-1).Draw(t, "record")])
				continue
			}
			key := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "key")]
			h.Records = append(h.Records, at.Write(DrawWrite(t, key)))
		}
		return h
	})
}

// Write is what a caller asks a replica to write.
type Write struct {
	Key    merge.Key
	Body   []byte
	Delete bool
	Settle bool // cover every held version, not only the head
}

// DrawWrite draws a write of a key: one in four deletes, one in six settles.
func DrawWrite(t *rapid.T, key merge.Key) Write {
	return Write{
		Key:    key,
		Body:   []byte{rapid.ByteRange(0, 3).Draw(t, "body")},
		Delete: rapid.IntRange(0, 3).Draw(t, "delete") == 0,
		Settle: rapid.IntRange(0, 5).Draw(t, "settle") == 0,
	}
}

// Replica is an honest store of one writer, with a Twin for each key. Not safe
// for concurrent use.
type Replica struct {
	identity Identity
	signed   bool
	physical int64 // milliseconds
	newest   hlc.Timestamp
	keys     map[merge.Key]*Twin
}

// NewReplica returns an empty store of a writer whose clock says WallBase.
func NewReplica(identity Identity, signed bool) *Replica {
	return &Replica{identity: identity, signed: signed, physical: WallBase, keys: map[merge.Key]*Twin{}}
}

// Skew sets the replica's physical clock to WallBase and so many milliseconds.
func (r *Replica) Skew(ms int64) { r.physical = WallBase + ms }

// Pass lets the replica's physical clock go on.
func (r *Replica) Pass(ms int64) { r.physical += ms }

// Writer returns the replica's identity.
func (r *Replica) Writer() Identity { return r.identity }

// Key returns the twin of a key.
func (r *Replica) Key(key merge.Key) *Twin {
	if r.keys[key] == nil {
		r.keys[key] = &Twin{}
	}
	return r.keys[key]
}

// Receive takes a record that came from elsewhere, and its stamp into the clock.
func (r *Replica) Receive(record merge.Record) {
	if earlier(r.newest, record.Envelope.UpdatedHLC) {
		r.newest = record.Envelope.UpdatedHLC
	}
	r.Key(record.Key).Add(record.Version())
}

// Write writes a record on top of what the replica has seen. It panics when
// the record does not pass merge.Seal: the caller's key or body is at fault.
func (r *Replica) Write(w Write) merge.Record {
	r.newest.Counter++
	if r.newest.Wall < r.physical {
		r.newest = hlc.Timestamp{Wall: r.physical}
	}
	basis, syncVersion := r.Key(w.Key).Next(r.identity.ID, r.newest, w.Settle)
	draft := merge.Record{
		Key: w.Key,
		Envelope: merge.Envelope{
			SyncVersion:      syncVersion,
			OriginInstanceID: r.identity.ID,
			UpdatedHLC:       r.newest,
			LastWriterID:     r.identity.ID,
			Deleted:          w.Delete,
		},
		Basis: basis,
		Body:  w.Body,
	}
	algorithm := merge.Unsigned
	if r.signed {
		draft.Fleet, algorithm = Fleet(), merge.Ed25519
	}
	record, err := merge.Seal(draft, algorithm, r.identity.Sign)
	if err != nil {
		panic(fmt.Sprintf("mergetest: write of %s: %v", w.Key, err))
	}
	r.Receive(record)
	return record
}
