package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// Machines that are lost, and those that find another disk than their own.

// errNoStore is why a node does not start without its store: what it wrote into
// a new one would replace what it never saw.
var errNoStore = errors.New("simulation: the disk is not this instance's: put its own back, or join again as a new instance")

// retire takes a machine away for good, disk and all. What only it had is owed
// to nobody. The first replica stays, since nobody else can grant; and so do
// two.
func (c *Cluster) retire(r *Replica) {
	if !c.expendable(r) {
		return
	}
	r.putBack() // the disk that it has may be another's
	r.kill(c.dice.duration(0, 30*time.Second))
	r.gone = true
	r.sharing = r.planned // it cannot take back what it had shared
	r.note("is gone")
	c.spread.gone(r)
	c.mustRead(c.model.lost())
}

// expendable reports whether the fleet can be checked without a replica.
func (c *Cluster) expendable(r *Replica) bool {
	return r.number > 0 && !r.gone && r.started > 0 && r.member() && (r.isClone() || len(c.members()) > 2)
}

// wipe empties the disk of a machine that starts again. When For is set, its
// disk was but missing, and is back after that; else the instance is lost, and
// its person joins another.
func (c *Cluster) wipe(r *Replica, s Step) {
	if r.started == 0 || s.For == 0 && !c.expendable(r) {
		return
	}
	r.kill(c.dice.duration(0, 5*time.Second))
	r.takeAway(newDisk(r.disk.dice, c.cover), FaultWiped)
	r.launch()
	if s.For == 0 {
		c.retire(r)
		return
	}
	c.clock.After(s.For, r.putBack)
}

// swap lets two machines start with each other's disk, for a while.
func (c *Cluster) swap(r, peer *Replica, s Step) {
	if r == peer || peer.amiss() || peer.damaged || r.started == 0 || peer.started == 0 {
		return
	}
	r.kill(c.dice.duration(0, 5*time.Second))
	peer.kill(c.dice.duration(0, 5*time.Second))
	r.takeAway(peer.disk, FaultSwapped)
	peer.takeAway(r.away, FaultSwapped)
	r.launch()
	peer.launch()
	c.clock.After(s.For, func() {
		r.putBack()
		peer.putBack()
	})
}

// amiss reports whether a replica's machine is gone, or has another disk than
// its own.
func (r *Replica) amiss() bool { return r.gone || r.away != nil }

// takeAway puts another disk in the place of a replica's own.
func (r *Replica) takeAway(other *disk, f Fault) {
	r.away, r.disk, r.foreign = r.disk, other, f
}

// putBack gives a replica its own disk back, and starts it.
func (r *Replica) putBack() {
	if r.away == nil {
		return
	}
	r.disk, r.away = r.away.restart(), nil // who had it meanwhile may have closed it
	r.launch()
}

// ownStore plays the rule by which a node refuses an empty store, and holds
// that no other than its own is served. Errors: errNoStore, and why the owner
// of the store cannot be read.
func (r *Replica) ownStore(st *store.Store) error {
	_, err := state.OwnerOf(st)
	if errors.Is(err, state.ErrNotFound) {
		return fmt.Errorf("%w: nobody's", errNoStore)
	}
	return err
}

// refused notes that a replica does not start on a disk that is not its own.
func (r *Replica) refused(err error) {
	r.note("does not start: %v", err)
	r.disk = r.disk.restart()
	if r.away == nil {
		r.cluster.fail(InvariantOwnStore, "replica %d does not start on its own disk: %v", r.number, err)
		return
	}
	r.cluster.cover.fault(r.foreign)
}
