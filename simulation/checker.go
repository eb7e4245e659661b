package simulation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// read reads the disk of a replica, running or not, past its faults.
func (r *Replica) read(fn func(s *store.Reader) error) error {
	if r.process != nil {
		return r.undisturbed(func() error { return r.process.store.View(fn) })
	}
	if r.started == 0 {
		return nil
	}
	st, err := store.Open(r.disk.Clone(), store.Config{Now: r.Now, Rand: entropy(0, 0), Indexer: state.Indexer{}})
	if err != nil {
		return err
	}
	return st.View(fn)
}

// undisturbed runs fn while snapshots of the disk do not fail: the checks of a
// run take no faults from it.
func (r *Replica) undisturbed(fn func() error) error {
	pending := r.disk.flaws.unreadable
	r.disk.flaws.unreadable = 0
	defer func() { r.disk.flaws.unreadable = pending }()
	return fn()
}

// members returns the replicas that the fleet takes in and whose machines are
// still there and sound.
func (c *Cluster) members() []*Replica {
	var members []*Replica
	for _, r := range c.replicas {
		if r.member() {
			members = append(members, r)
		}
	}
	return members
}

func (c *Cluster) byStranger(id merge.InstanceID) bool {
	n := c.numberOf(id)
	return n >= 0 && !c.replicas[n].admitted()
}

func (c *Cluster) byMember(id merge.InstanceID) bool {
	n := c.numberOf(id)
	return n >= 0 && c.replicas[n].member()
}

// shared reports whether every member shares a section but while it has
// switched that off.
func (c *Cluster) shared(s merge.Section) bool {
	return c.sharing(c.members())(s)
}

// sharing is shared of what does not change meanwhile, for many questions.
func (c *Cluster) sharing(members []*Replica) func(merge.Section) bool {
	known := map[merge.Section]bool{}
	return func(s merge.Section) bool {
		all, asked := known[s]
		if !asked {
			all = !slices.ContainsFunc(members, func(r *Replica) bool { return !r.planned.Shares(s) })
			known[s] = all
		}
		return all
	}
}

// Check compares every replica with the model and with itself. It is for a
// cluster that has converged. Errors: ErrFailed.
func (c *Cluster) Check() error {
	// What is on its way must not change anything any more.
	before := rootsOf(c.replicas[0], c.shared)
	strangers := slices.ContainsFunc(c.replicas, func(r *Replica) bool { return !r.admitted() })
	settle := 2
	if strangers {
		settle = 8 // everybody looks once through what a stranger has
	}
	const pages = 200 // small ones, which take a while
	c.RunFor(time.Duration(settle)*c.plan.HeartbeatEvery + 10*time.Second + c.atlas.far(2*pages))
	if strangers { // one of them may bring what a machine that is lost had written
		before = rootsOf(c.replicas[0], c.shared)
	}
	// Of many peers one meets a stranger only now and then, by chance.
	if !strangers || len(c.replicas) <= 5 {
		c.checkQuiet()
	}
	switch difference, err := c.difference(); {
	case err != nil:
		c.fail(InvariantSoundDisk, "reading a store: %v", err)
	case difference != nil:
		c.fail(InvariantAgreement, "one fleet no longer: %s", difference())
	}
	if after := rootsOf(c.replicas[0], c.shared); after != before {
		c.fail(InvariantAgreement, "changed after convergence, and nobody wrote\nreplica 0 has %s\nhad %s", after, before)
	}
	c.checkCursors()
	if err := c.check(); err != nil {
		c.fail(InvariantSoundDisk, "reading a store: %v", err)
	}
	return c.failure
}

// checkQuiet holds that within the bound nothing is fetched any more: what is
// equal may still be walked, in pages of a record when such are the plan's.
func (c *Cluster) checkQuiet() {
	for until := c.clock.Now().Add(c.Bound()); ; {
		pulls := c.pulls()
		c.RunFor(2 * c.plan.HeartbeatEvery)
		more := c.pulls() - pulls
		if more == 0 {
			return
		}
		if c.clock.Now().After(until) {
			c.fail(InvariantQuiet, "%d pulls although nothing changes any more", more)
			return
		}
	}
}

func (c *Cluster) check() error {
	members := c.members()
	extant := map[merge.Hash]bool{}
	for _, r := range members {
		if err := r.eachHeld(func(_ merge.Key, v store.Held) { extant[v.Hash] = true }); err != nil {
			return err
		}
	}
	expected := c.model.expected(extant)
	for _, r := range members {
		h, err := r.holding()
		if err != nil {
			return err
		}
		c.compare(r, &h, expected)
		if err := errors.Join(c.checkCounters(r, expected), c.checkStream(r)); err != nil {
			return err
		}
		if err := c.compareConflicts(r, &h); err != nil {
			return err
		}
		c.checkStatus(r)
		if err := c.checkParked(r); err != nil {
			return err
		}
		if err := r.Store().Verify(context.Background()); err != nil {
			c.fail(InvariantRows, "replica %d: %v", r.number, err)
		}
	}
	return c.compareReads(expected)
}

// eachHeld calls fn for every version that a replica holds.
func (r *Replica) eachHeld(fn func(k merge.Key, v store.Held)) error {
	sections := r.Store().Sections()
	return r.read(func(s *store.Reader) error {
		for _, section := range sections {
			err := s.Range(section.Section, "", func(k merge.Key, held []store.Held) bool {
				for _, v := range held {
					fn(k, v)
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// holding is everything that a replica holds.
type holding struct {
	keys      map[merge.Key][]store.Held
	wires     map[merge.Hash][]byte
	feed      map[merge.Section][]merge.Hash
	conflicts map[merge.Key]int
}

func (r *Replica) holding() (holding, error) {
	h := holding{
		keys: map[merge.Key][]store.Held{}, wires: map[merge.Hash][]byte{},
		feed: map[merge.Section][]merge.Hash{}, conflicts: map[merge.Key]int{},
	}
	sections := r.Store().Sections()
	err := r.read(func(s *store.Reader) error {
		for _, section := range sections {
			err := s.Range(section.Section, "", func(k merge.Key, held []store.Held) bool {
				h.keys[k] = held
				return true
			})
			if err != nil {
				return err
			}
			err = s.Feed(section.Section, 0, func(e store.FeedEntry) bool {
				h.feed[section.Section] = append(h.feed[section.Section], e.Hash)
				return true
			})
			if err != nil {
				return err
			}
		}
		for k, held := range h.keys {
			for _, v := range held {
				wire, err := s.Wire(k, v)
				if err != nil {
					return err
				}
				h.wires[v.Hash] = wire
			}
		}
		return s.Conflicts(func(k merge.Key, held []store.Held) bool {
			h.conflicts[k] = len(held)
			return true
		})
	})
	return h, err
}

// compare holds one replica to what the model expects: the same versions of
// every shared key, so the same head and conflicts, byte for byte as they were
// written; and nothing private of anybody else.
func (c *Cluster) compare(r *Replica, h *holding, expected map[merge.Key][]merge.Version) {
	for key, versions := range expected {
		if r.shares(key.Section()) {
			c.compareKey(r, key, versionsOf(h.keys[key]), versions)
		}
	}
	for key, held := range h.keys {
		for i, v := range held {
			if v.Writer != r.ID() && (private(key) || !r.shares(key.Section())) {
				c.fail(InvariantPrivacy, "replica %d holds %s, which is private to replica %d", r.number, key, c.numberOf(v.Writer))
			}
			if w := c.model.versions[v.Hash]; w == nil || !slices.Equal(h.wires[v.Hash], w.record.Encode()) {
				c.fail(InvariantBytes, "replica %d holds other bytes than were written: %s", r.number, c.model.describe(v.Hash))
			}
			if i > 0 && h.conflicts[key] != len(held) {
				c.fail(InvariantRows, "replica %d does not list the conflict of %s", r.number, key)
			}
		}
	}
	for section, feed := range h.feed {
		slices.SortFunc(feed, func(a, b merge.Hash) int { return slices.Compare(a[:], b[:]) })
		if len(slices.Compact(feed)) != len(feed) {
			c.fail(InvariantRows, "replica %d has a version twice in its feed of %s", r.number, section)
		}
		if int64(len(feed)) != r.Store().State(section).Count {
			c.fail(InvariantRows, "replica %d has %d entries in its feed of %s, and holds %d versions", r.number, len(feed), section, r.Store().State(section).Count)
		}
	}
}

// private reports whether a key never leaves its machine: what is bound to an
// instance, and sessions unless somebody asks for more.
func private(key merge.Key) bool { return key.Scope.Instance != "" || key.Family() == "session" }

func (c *Cluster) compareKey(r *Replica, key merge.Key, held, want []merge.Version) {
	describe := func(versions []merge.Version) string {
		var lines []string
		for _, v := range versions {
			lines = append(lines, c.model.describe(v.Hash))
		}
		return strings.Join(lines, "; ")
	}
	same := func(a, b merge.Version) bool { return a.Hash == b.Hash }
	if c.model.cloned[key] && len(held) > 0 {
		held, want = held[len(held)-1:], want[len(want)-1:]
	}
	if !slices.EqualFunc(held, want, same) {
		c.fail(InvariantDurability, "replica %d holds of %s [%s], owes [%s]", r.number, key, describe(held), describe(want))
	}
}

// checkStatus holds what an engine says of its peers to the truth. With more
// peers than partners, some have not been compared with since; that a machine is
// gone may not have been noticed yet.
func (c *Cluster) checkStatus(r *Replica) {
	for _, p := range r.Engine().Peers() {
		if len(r.Engine().Peers()) <= 4 && !p.InSync && c.byMember(p.ID) {
			c.fail(InvariantStatus, "replica %d says that it is not in sync with %d: %+v", r.number, c.numberOf(p.ID), p)
		}
	}
}
