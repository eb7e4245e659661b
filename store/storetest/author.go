package storetest

import (
	"context"
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Author is an honest instance elsewhere: it knows versions, and what it
// writes builds on what it knows. Its records are unsigned.
type Author struct {
	ID    merge.InstanceID
	last  hlc.Timestamp
	known map[merge.Key][]merge.Version
}

// NewAuthor returns an author whose clock begins at a stamp.
func NewAuthor(id merge.InstanceID, begin hlc.Timestamp) *Author {
	return &Author{ID: id, last: begin, known: map[merge.Key][]merge.Version{}}
}

// Learn makes versions known to the author.
func (a *Author) Learn(records ...merge.Record) {
	for _, rec := range records {
		a.known[rec.Key] = append(a.known[rec.Key], rec.Version())
		if rec.Envelope.UpdatedHLC.After(a.last) {
			a.last = rec.Envelope.UpdatedHLC
		}
	}
}

// Write returns the author's next version of a key, ticks milliseconds after
// everything that it knows.
func (a *Author) Write(k merge.Key, body string, ticks int64) merge.Record {
	return a.Refer(k, body, ticks)
}

// Refer is Write for a version that refers to blobs.
func (a *Author) Refer(k merge.Key, body string, ticks int64, blobs ...merge.BlobRef) merge.Record {
	a.last = hlc.Timestamp{Wall: a.last.Wall + ticks, Counter: a.last.Counter + 1}
	var own *merge.Version
	for i, v := range a.known[k] {
		if v.Writer == a.ID && (own == nil || merge.Compare(v, *own) > 0) {
			own = &a.known[k][i]
		}
	}
	basis, version := merge.Supersede(merge.Resolve(a.known[k]), own, a.ID, a.last)
	rec := Seal(a.ID, k, a.last, basis, version, body, blobs...)
	a.Learn(rec)
	return rec
}

// Seal makes an unsigned record; an empty body makes it a tombstone. It panics
// when the record is malformed.
func Seal(
	writer merge.InstanceID, k merge.Key, stamp hlc.Timestamp, basis merge.Basis, version int64, body string, blobs ...merge.BlobRef,
) merge.Record {
	rec, err := merge.Seal(merge.Record{
		Key: k, Basis: basis, Body: []byte(body), Blobs: blobs,
		Envelope: merge.Envelope{
			SyncVersion: version, OriginInstanceID: writer, UpdatedHLC: stamp, LastWriterID: writer, Deleted: body == "",
		},
	}, merge.Unsigned, nil)
	if err != nil {
		panic(fmt.Sprintf("storetest: seal %s: %v", k, err))
	}
	return rec
}

// Draft builds a writer's next version of a key on what the store holds, as a
// build function of store.Write does; all makes it settle the conflicts.
func Draft(s *store.Store, r *store.Reader, writer merge.InstanceID, k merge.Key, body string, all bool) (merge.Record, error) {
	held, err := r.Held(k)
	if err != nil {
		return merge.Record{}, err
	}
	own, err := r.OwnCovered(k, writer)
	if err != nil {
		return merge.Record{}, err
	}
	stamp, err := s.Clock().Now()
	if err != nil {
		return merge.Record{}, err
	}
	supersede := merge.Supersede
	if all {
		supersede = merge.SupersedeAll
	}
	basis, version := supersede(store.Versions(held), own, writer, stamp)
	return Seal(writer, k, stamp, basis, version, body), nil
}

// Put writes one version of a key as a local writer and returns it.
func Put(ctx context.Context, s *store.Store, writer merge.InstanceID, k merge.Key, body string) (rec merge.Record, err error) {
	err = s.Write(ctx, k.String(), func(r *store.Reader) ([]merge.Record, error) {
		rec, err = Draft(s, r, writer, k, body, false)
		return []merge.Record{rec}, err
	})
	return rec, err
}

// Key returns a key of a kind in a project; the empty project is global.
func Key(kind, project string, id ...string) merge.Key {
	return merge.Key{Kind: kind, Scope: merge.Scope{Project: project}, ID: merge.NewID(id...)}
}

// at returns the stamp a number of milliseconds after Epoch.
func at(ms int64) hlc.Timestamp { return hlc.Timestamp{Wall: Epoch().UnixMilli() + ms} }
