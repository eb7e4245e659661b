package simulation

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// scopes are those that the workload writes to.
func scopes() []merge.Scope {
	return []merge.Scope{{}, {Project: "web"}, {Project: "web", Workspace: "feature"}}
}

// target is one key of the workload: a skill or a memory item.
type target struct {
	skill bool
	scope merge.Scope
	name  string
}

// targetOf returns the target with a number, the same on every replica.
func targetOf(n int) target {
	all := scopes()
	return target{skill: n%2 == 0, scope: all[n/2%len(all)], name: fmt.Sprintf("shared-%d", n)}
}

func (t target) key() merge.Key {
	if t.skill {
		return merge.Key{Kind: "skill", Scope: t.scope, ID: merge.NewID(t.name)}
	}
	return merge.Key{Kind: "memory", Scope: t.scope, ID: merge.NewID(t.name)}
}

// work lets a replica's agent do what a step says. An error that agents must
// live with is none: nothing was acknowledged.
func (c *Cluster) work(r *Replica, s Step) {
	if r.process == nil || r.mute() {
		return
	}
	err := c.act(r, s)
	if err != nil && !tolerable(err) {
		c.fail(InvariantProgress, "replica %d cannot %s: %v", r.number, s.Act, err)
	}
	if err != nil {
		r.note("did not %s: %v", s.Act, err)
	}
}

func (c *Cluster) act(r *Replica, s Step) error {
	switch s.Act {
	case ActDelete:
		return r.remove(targetOf(s.Count))
	case ActBurst:
		return r.burst(s.Count)
	case ActLarge:
		return r.large(s.Count)
	case ActPrivate:
		return r.private()
	case ActForeign:
		return r.write(draft{key: merge.Key{Kind: "note.todo", ID: "list"}, body: []byte{0xa0}, deleted: c.dice.chance(0.2)})
	case ActSettle:
		return r.settle()
	case ActTwin:
		key, peer := targetOf(s.Count).key(), c.replicas[s.Peer]
		if peer.process == nil || !r.shares(key.Section()) || !peer.shares(key.Section()) {
			return nil
		}
		return r.twin(peer, key)
	default:
		return r.edit(targetOf(s.Count), c.text(40))
	}
}

// mute reports whether a replica whose disk was rolled back may not write yet:
// its clock must have passed all that it issued before. Fleets of people have
// the same rule (reissue under a successor key); it does not exist yet.
func (r *Replica) mute() bool {
	return !r.Now().After(r.muteUntil)
}

func tolerable(err error) bool {
	return errors.Is(err, errDisk) || errors.Is(err, hlc.ErrClockAhead) || errors.Is(err, state.ErrNotFound)
}

func (r *Replica) edit(t target, text string) error {
	ctx := context.Background()
	var err error
	if t.skill {
		_, err = r.State().Skills().Upsert(ctx, state.Skill{Slug: t.name, Scope: t.scope, Body: text})
	} else {
		_, err = r.State().Memory().Write(ctx, state.MemoryItem{ID: t.name, Scope: t.scope, Content: text})
	}
	return err
}

func (r *Replica) remove(t target) error {
	if t.skill {
		return r.State().SkillLibrary().DeleteIn(context.Background(), t.scope, t.name)
	}
	return r.State().MemoryLibrary().DeleteIn(context.Background(), t.scope, t.name)
}

// burst writes new items one after the other, into one scope.
func (r *Replica) burst(count int) error {
	all := scopes()
	scope := all[r.cluster.dice.IntN(len(all))]
	for range count {
		item := state.MemoryItem{Scope: scope, Kind: "fact", Content: r.cluster.text(60)}
		if _, err := r.State().Memory().Write(context.Background(), item); err != nil {
			return err
		}
		if r.process == nil {
			return nil // it died writing
		}
	}
	return nil
}

// large writes skills of up to the limit of a body: some are too large to be
// gossiped, and a few dozen are more than one page.
func (r *Replica) large(count int) error {
	for range count {
		size := 15_000
		if count < 10 {
			size = 65_100
		}
		slug := fmt.Sprintf("large-%d", r.cluster.dice.IntN(1<<30))
		_, err := r.State().Skills().Upsert(context.Background(), state.Skill{Slug: slug, Body: r.cluster.text(size)})
		if err != nil {
			return err
		}
		if r.process == nil {
			return nil
		}
	}
	return nil
}

// private writes what must never leave the machine.
func (r *Replica) private() error {
	scope := merge.Scope{Instance: r.name}
	if err := r.edit(target{skill: true, scope: scope, name: "mine"}, "private"); err != nil || r.process == nil {
		return err
	}
	return r.write(draft{key: merge.Key{Kind: "session.turn", ID: merge.NewID("s", r.name)}, body: []byte{0xa0}})
}

// text returns n characters that do not compress much.
func (c *Cluster) text(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[c.dice.IntN(len(letters))]
	}
	return string(b)
}
