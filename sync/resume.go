package sync

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// resumePoint is where an interrupted page transfer goes on: the position in
// the section, and the feed position that the transfer began at. It is stored
// with each page; keys are never reused.
type resumePoint struct {
	Store       []byte `cbor:"1,keyasint"`
	Incarnation uint64 `cbor:"2,keyasint"`
	Seq         uint64 `cbor:"3,keyasint"`
	After       []byte `cbor:"4,keyasint"`
}

func resumeAt(from store.Cursor, after []byte) []byte {
	return mustMarshal(resumePoint{
		Store: from.Store[:], Incarnation: uint64(from.Incarnation), Seq: from.Seq, After: after,
	})
}

func (r resumePoint) cursor() store.Cursor {
	return store.Cursor{Store: store.ID(r.Store), Incarnation: store.Incarnation(r.Incarnation), Seq: r.Seq}
}

// resume returns where an interrupted page transfer from the peer's present
// store goes on. It may have begun at an earlier opening of that store, even on
// another disk: then its end is no place in the feed.
func (e *Engine) resume(p *peer, section merge.Section) (at resumePoint, ok bool) {
	err := e.store.View(func(r *store.Reader) error {
		point, err := r.Resume(p.id, section)
		if err != nil {
			return err
		}
		return merge.Unmarshal(point, &at)
	})
	return at, err == nil && string(at.Store) == string(p.store[:])
}
