package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

func newIdentity(keys io.Reader) (fleet.Identity, error) { return fleet.NewIdentity(keys) }

// found states the fleet's first grants and puts them on the disks, as joining
// does: each replica has those that prove its own membership, and the first,
// the admin, has all but the late ones.
func (c *Cluster) found() error {
	stamp := hlc.Timestamp{Wall: epoch().Add(-time.Minute).UnixMilli()}
	admin := c.replicas[0]
	root, err := c.charter.grant(c.charter.root, admin, stamp)
	if err != nil {
		return err
	}
	known := []merge.Record{root}
	own := make([][]merge.Record, len(c.replicas))
	for i, r := range c.replicas[1:] {
		stamp.Counter = uint16(i + 1)
		grant, err := c.charter.grant(admin.identity, r, stamp)
		if err != nil {
			return err
		}
		switch c.plan.Grants[r.number] {
		case GrantKnown:
			known = append(known, grant)
		case GrantOwn:
			own[r.number] = append(own[r.number], grant)
		case GrantLate, GrantNever:
		}
	}
	if len(c.replicas) >= imageMin {
		return c.installImage(known, own)
	}
	for _, r := range c.replicas {
		records := append(append([]merge.Record{}, known...), own[r.number]...)
		if err := r.install(records); err != nil {
			return err
		}
	}
	return nil
}

// installImage is install of many replicas at once.
func (c *Cluster) installImage(known []merge.Record, own [][]merge.Record) error {
	image, err := newImage(known, c.replicas[0].founding())
	if err != nil {
		return err
	}
	if c.common, err = newCommon(c.charter.fleet, known); err != nil {
		return err
	}
	for i := range known {
		c.model.add(&known[i]).acknowledged = true
	}
	for _, r := range c.replicas {
		if r.disk.Memory, err = image.disk(r); err != nil {
			return err
		}
		if len(own[r.number]) > 0 {
			if err := r.install(own[r.number]); err != nil {
				return err
			}
		}
	}
	return nil
}

// founding is how a store is opened before its replica starts.
func (r *Replica) founding() store.Config {
	return store.Config{Now: r.Now, Rand: entropy(r.cluster.plan.Seed, streamReplica+uint64(r.number)<<32)}
}

// install puts records on the disk of a replica that does not run.
func (r *Replica) install(records []merge.Record) error {
	st, err := store.Open(r.disk, r.founding())
	if err != nil {
		return err
	}
	for i := range records {
		r.cluster.model.add(&records[i]).acknowledged = true
	}
	if _, err := st.Merge(context.Background(), store.Batch{Path: store.PathRestore, Records: records}); err != nil {
		return err
	}
	if err := r.own(st); err != nil {
		return err
	}
	r.disk = r.disk.restart()
	return nil
}

// own makes a store that of the replica.
func (r *Replica) own(st *store.Store) error {
	return state.Own(context.Background(), st, state.Owner{Instance: r.ID(), Fleet: r.cluster.charter.fleet})
}

// admitted reports whether the fleet takes what the replica writes, sooner or
// later.
func (r *Replica) admitted() bool { return r.cluster.plan.Grants[r.number] != GrantNever }

// member reports whether the replica is one that the fleet must agree with: it
// is admitted, and its machine is still there and sound.
func (r *Replica) member() bool { return r.admitted() && !r.gone && !r.damaged }

// launch starts a replica, again and again while its disk fails.
func (r *Replica) launch() {
	if r.process != nil || r.gone {
		return
	}
	err := r.start()
	switch {
	case err == nil && r.away != nil:
		r.cluster.fail(InvariantOwnStore, "replica %d starts on a disk that is not its own (%s)", r.number, r.foreign)
	case err == nil:
	case r.tells(err), r.damaged && errors.Is(err, errNoStore):
		r.noticed(err)
	case errors.Is(err, errNoStore), errors.Is(err, state.ErrForeignStore):
		r.refused(err)
	case errors.Is(err, errDisk), errors.Is(err, store.ErrFull):
		r.note("does not start: %v", err)
		r.disk = r.disk.restart()
		r.cluster.clock.After(time.Second, r.launch)
	default:
		r.cluster.fail(InvariantProgress, "%v", err)
	}
}

// state states the grant of a replica at the admin. Errors that agents must
// live with, and whatever is wrong.
func (c *Cluster) state(r *Replica) error {
	admin := c.replicas[0]
	if admin.busy() {
		return nil
	}
	err := admin.Store().Write(context.Background(), "grant "+r.name, func(*store.Reader) ([]merge.Record, error) {
		stamp, err := admin.Store().Clock().Now()
		if err != nil {
			return nil, err
		}
		rec, err := c.charter.grant(admin.identity, r, stamp)
		if err != nil {
			return nil, err
		}
		return []merge.Record{rec}, admin.attempt(&rec)
	})
	if err != nil {
		return fmt.Errorf("grant of replica %d: %w", r.number, err)
	}
	return nil
}

// restate makes everybody a member whom the admin does not know as one: a
// grant that is still to come, or that only a lost disk had.
func (c *Cluster) restate() {
	admin := c.replicas[0]
	for admin.mute() {
		c.RunFor(time.Second)
	}
	for _, r := range c.replicas[1:] {
		if _, known := admin.process.authority.Member(r.ID()); known || !r.admitted() {
			continue
		}
		if err := c.state(r); err != nil {
			c.fail(InvariantProgress, "%v", err)
		}
	}
}
