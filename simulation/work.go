package simulation

import (
	"cmp"
	"fmt"

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
	if r.busy() {
		return
	}
	before := c.model.acknowledged
	err := c.act(r, s)
	if err == nil && r.process != nil && s.Act.writes() && c.model.acknowledged == before {
		c.fail(InvariantDurability, "replica %d was told that it did %s, and committed nothing", r.number, s.Act)
	}
	if err != nil {
		c.workFailed(r, s.Act, err)
	}
}

// workFailed notes that an agent could not do what a step says.
func (c *Cluster) workFailed(r *Replica, act Act, err error) {
	if !tolerable(err) && !r.tells(err) {
		c.fail(InvariantProgress, "replica %d cannot %s: %v", r.number, act, err)
	}
	r.note("did not %s: %v", act, err)
}

// writes reports whether a step that succeeds has written something.
func (a Act) writes() bool {
	switch a {
	case ActWrite, ActDelete, ActBurst, ActLarge, ActPrivate, ActForeign, ActJudge:
		return true
	default:
		return false
	}
}

func (c *Cluster) act(r *Replica, s Step) error {
	switch s.Act {
	case ActDelete:
		return r.remove(targetOf(s.Count))
	case ActRead:
		return r.lookAt(targetOf(s.Count))
	case ActRevise:
		return r.revise(targetOf(s.Count), s.For)
	case ActImport:
		return r.importPack(s.Peer, s.Count)
	case ActBurst:
		return r.burst(s.Count, cmp.Or(s.Bytes, 60))
	case ActLarge:
		return r.large(s.Count)
	case ActPrivate:
		return r.private()
	case ActForeign:
		return r.write(draft{key: merge.Key{Kind: "note.todo", ID: "list"}, body: []byte{0xa0}, deleted: c.dice.chance(0.2)})
	case ActNewer:
		return r.writeNewer(s.Count)
	case ActJudge:
		return r.judge(targetOf(s.Count))
	case ActSettle:
		return r.settle()
	case ActTwin:
		return c.twin(r, c.replicas[s.Peer], targetOf(s.Count).key())
	default:
		return r.edit(targetOf(s.Count), c.text(cmp.Or(s.Bytes, 40)))
	}
}

// twin lets two machines write under one identity, if both can.
func (c *Cluster) twin(r, peer *Replica, key merge.Key) error {
	if peer.busy() || r.damaged || peer.damaged || !r.shares(key.Section()) || !peer.shares(key.Section()) {
		return nil
	}
	return r.twin(peer, key)
}

// mute reports whether a replica whose disk was rolled back may not write yet:
// its clock must have passed all that it issued before. Fleets of people have
// the same rule (reissue under a successor key); it does not exist yet.
func (r *Replica) mute() bool {
	return r.Now().UnixMilli() <= r.muteUntil.UnixMilli() // a stamp counts within its millisecond
}

// burst writes new items one after the other, into one scope.
func (r *Replica) burst(count, bytes int) error {
	all := scopes()
	scope := all[r.cluster.dice.IntN(len(all))]
	for range count {
		if err := r.memorize(state.MemoryItem{Scope: scope, Content: r.cluster.text(bytes)}); err != nil {
			return err
		}
		if r.process == nil || r.cluster.stopping() {
			return nil // it died writing
		}
	}
	return nil
}

// importPack writes the skills of a pack one after the other, as an agent does
// that was given a folder of them. Whoever imports the same pack writes the same
// keys.
func (r *Replica) importPack(pack, count int) error {
	all := scopes()
	for i := range count {
		sk := state.Skill{
			Slug: fmt.Sprintf("pack-%d-%d", pack, i), Scope: all[pack%len(all)], Name: "Imported", Tags: []string{"pack"},
			Body: r.cluster.text(120), Check: "true",
		}
		if err := r.upsertAs(sk); err != nil {
			return err
		}
		if r.process == nil || r.cluster.stopping() {
			return nil // it died writing
		}
	}
	r.cluster.cover.sometimes(SometimesImport)
	return nil
}

// large writes skills of up to the limit of a body: some are too large to be
// gossiped, and a few dozen are more than one page.
func (r *Replica) large(count int) error {
	size := largeBytes(count)
	for range count {
		slug := fmt.Sprintf("large-%d", r.cluster.dice.IntN(1<<30))
		if err := r.upsertAs(state.Skill{Slug: slug, Body: r.cluster.text(size)}); err != nil {
			return err
		}
		if r.process == nil || r.cluster.stopping() {
			return nil
		}
	}
	return nil
}

// largeBytes is the size of each of so many large records.
func largeBytes(count int) int {
	if count < 10 {
		return 65_100
	}
	return 15_000
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
