package simulation

import (
	"context"
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// draft is a version before its envelope.
type draft struct {
	key     merge.Key
	body    []byte
	blobs   []merge.BlobRef
	deleted bool
	settles bool  // covers every held version, not only the head
	newer   bool  // has header fields of a later build
	said    *said // see written
}

// write makes a version by the rules that package state follows, of kinds that
// it does not write.
func (r *Replica) write(d draft) error {
	st := r.Store()
	return st.Write(context.Background(), d.key.String(), func(rd *store.Reader) ([]merge.Record, error) {
		held, err := rd.Held(d.key)
		if err != nil {
			return nil, err
		}
		own, err := rd.OwnCovered(d.key, r.ID())
		if err != nil {
			return nil, err
		}
		stamp, err := st.Clock().Now()
		if err != nil {
			return nil, err
		}
		rec, err := r.seal(d, versionsOf(held), own, stamp)
		if err != nil {
			return nil, err
		}
		if err := r.permit(&rec); err != nil {
			return nil, err
		}
		r.cluster.model.attempted(r, &rec, d.settles)
		w := r.cluster.model.add(&rec)
		w.newer, w.said = d.newer, d.said
		return []merge.Record{rec}, nil
	})
}

func (r *Replica) seal(d draft, held []merge.Version, own *merge.Version, stamp hlc.Timestamp) (merge.Record, error) {
	supersede := merge.Supersede
	if d.settles {
		supersede = merge.SupersedeAll
	}
	basis, version := supersede(held, own, r.ID(), stamp)
	rec, err := merge.Seal(merge.Record{
		Fleet: r.cluster.charter.fleet, Key: d.key, Basis: basis, Body: d.body, Blobs: d.blobs,
		Envelope: merge.Envelope{
			SyncVersion: version, OriginInstanceID: r.ID(), UpdatedHLC: stamp, LastWriterID: r.ID(), Deleted: d.deleted,
		},
	}, merge.Ed25519, r.identity.Sign)
	if err != nil || !d.newer {
		return rec, err
	}
	return r.dialect.sealNewer(&rec, r.identity.Sign)
}

func versionsOf(held []store.Held) []merge.Version {
	versions := make([]merge.Version, len(held))
	for i := range held {
		versions[i] = held[i].Version
	}
	return versions
}

// settle writes the head of the first conflict anew, so that it covers all.
func (r *Replica) settle() error {
	var d draft
	err := r.Store().View(func(rd *store.Reader) error {
		return rd.Conflicts(func(k merge.Key, _ []store.Held) (more bool) {
			d.key = k
			return false
		})
	})
	if err != nil || d.key.ID == "" {
		return err
	}
	err = r.Store().View(func(rd *store.Reader) error {
		head, err := rd.Head(d.key)
		d.body, d.blobs, d.deleted, d.settles = head.Body, head.Blobs, head.Envelope.Deleted, true
		if w := r.cluster.model.versions[head.Hash()]; w != nil {
			d.said = w.said
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.write(d)
}

// twin writes a key at two replicas under the identity of the first and under
// one stamp: what happens when a machine was cloned and both copies run. The
// second replica takes in the clone's write as an import.
func (r *Replica) twin(peer *Replica, key merge.Key) error {
	stamp, err := r.Store().Clock().Now()
	if err != nil {
		return err
	}
	var twins [2]merge.Record
	for i, at := range []*Replica{r, peer} {
		var held []store.Held
		err := at.Store().View(func(rd *store.Reader) error {
			held, err = rd.Held(key)
			return err
		})
		if err != nil {
			return err
		}
		if n := len(held); n > 0 && !stamp.After(held[n-1].Stamp) {
			return nil // the clone would have had to wait
		}
		text := fmt.Sprintf("clone %d", i)
		body, err := merge.Marshal(map[int]any{2: 1, 5: text, 6: text}) // a skill, and a memory item
		if err != nil {
			return err
		}
		if twins[i], err = r.seal(draft{key: key, body: body}, versionsOf(held), nil, stamp); err != nil {
			return err
		}
	}
	if peer.process.authority.Judge(&twins[1]) != 0 || stamp.Wall > peer.Now().Add(hlc.DriftMax).UnixMilli() {
		return nil // the import would park it
	}
	if err := r.attempt(&twins[0]); err != nil {
		return err
	}
	err = r.Store().Write(context.Background(), key.String(), func(*store.Reader) ([]merge.Record, error) {
		return twins[:1], nil
	})
	if err != nil {
		return err
	}
	r.cluster.model.add(&twins[1])
	r.cluster.model.cloned[key] = true
	res, err := peer.Store().Merge(context.Background(), store.Batch{Path: store.PathRestore, Records: twins[1:]})
	if err == nil && res.Applied == 1 {
		// Nobody was told that it is durable: one who covers it in a way that others
		// do not take, as a stranger, keeps it to itself.
		r.cluster.cover.fault(FaultTwin)
	}
	return err
}
