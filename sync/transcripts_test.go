package sync_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// transcript writes down what the nodes of a mesh say to each other.
type transcript struct {
	*mesh
	anna, ben *node
	text      strings.Builder
	words     words
	began     time.Time
	at        time.Time // of the line before
	quiet     bool      // nothing is written down
	loses     func(delivery) bool
}

// newTranscript begins one of two nodes that do not know each other yet.
func newTranscript(t *testing.T, gossip bool, comment string) *transcript {
	t.Helper()
	tr := &transcript{mesh: newMesh(t, gossip), words: words{map[uint64]int{}, map[uint64][]byte{}}}
	tr.began, tr.at = tr.now, tr.now
	tr.lose = tr.hear
	tr.blame = func(n *node, b fleetsync.Blame) { tr.line("%s blames %s: %v", n.id, b.Peer, b.Err) }
	for line := range strings.Lines(comment) {
		tr.text.WriteString("# " + line)
	}
	tr.text.WriteString("\n\n")
	return tr
}

// meet adds both nodes.
func (tr *transcript) meet() {
	tr.anna, tr.ben = tr.add("anna", openly{}), tr.add("ben", openly{})
}

// hear writes a message down as it arrives, or is lost.
func (tr *transcript) hear(d delivery) (lost bool) {
	lost = tr.loses != nil && tr.loses(d)
	said := ""
	if d.gossip != nil {
		var wires [][]byte
		for _, r := range d.gossip.Records {
			wires = append(wires, r.Encode())
		}
		said = "GOSSIP " + records(wires)
	} else {
		said = tr.words.describe(d.message)
	}
	if lost {
		said += " (lost)"
	}
	tr.line("%s -> %s  %s", d.from, d.to, said)
	return lost
}

// line writes one line, after the time when some has passed.
func (tr *transcript) line(format string, args ...any) {
	if tr.quiet {
		return
	}
	if !tr.now.Equal(tr.at) {
		fmt.Fprintf(&tr.text, "-- after %s\n", tr.now.Sub(tr.began))
		tr.at = tr.now
	}
	fmt.Fprintf(&tr.text, format+"\n", args...)
}

// unheard does something of which nothing is written down.
func (tr *transcript) unheard(do func()) {
	tr.quiet = true
	do()
	tr.quiet, tr.began, tr.at = false, tr.now, tr.now
}

// end says what both hold.
func (tr *transcript) end() {
	for _, id := range tr.order {
		s := tr.nodes[id].store.State(merge.Section{Family: "memory"})
		sum := s.Sum.Bytes()
		tr.line("== %s holds %s, sum %s", id, versionsIn(uint64(s.Count)), short(sum[:]))
	}
}

// share gives both nodes the same versions.
func (tr *transcript) share(count int) { difference{common: count}.fill(tr.t, tr.anna, tr.ben) }

// TestTranscripts holds how the exchanges of PROTOCOL.md go, message by message.
// What it writes with -update is to be read before it is committed.
func TestTranscripts(t *testing.T) {
	for name, hold := range map[string]func(*testing.T) *transcript{
		"greeting": greetingOfEquals, "lost-message": lostMessage, "cold-join": coldJoin, "never-met": neverMet,
		"never-met-clustered": neverMetClustered, "lost-tail": lostTail, "busy": busyPeer, "blob": blobFetched,
		"audit": audited, "another-fleet": anotherFleet, "not-shared": notShared,
	} {
		t.Run(name, func(t *testing.T) {
			tr := hold(t)
			tr.end()
			path := filepath.Join("testdata", "transcripts", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(tr.text.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), tr.text.String()); diff != "" {
				t.Errorf("the exchange is another (-want +got):\n%s", diff)
			}
		})
	}
}

func greetingOfEquals(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Two that hold the same meet. The roots of the greeting are salted, so each side computes
the other's from its own sum: they are equal, nothing is asked for, and both cursors move to the
other's head. From then on a heartbeat each interval says so, and its answer lists nothing.`)
	tr.meet()
	tr.share(3)
	tr.connect("anna", "ben")
	tr.pass(11 * time.Second)
	return tr
}

func notShared(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Anna has memory of the project secret, and Ben a rule that keeps it to himself. His greeting does
not name it; his answers to her, who has named it, do: she waits for nothing, and the rest is equal.`)
	tr.meet()
	tr.ben.share = sharingBy(t, "keep memory project=secret")
	tr.open(tr.ben)
	tr.share(2)
	tr.writeKey(tr.anna, merge.Key{Kind: "memory", Scope: merge.Scope{Project: "secret"}, ID: "plan"}, "text")
	tr.writeKey(tr.ben, merge.Key{Kind: "memory", Scope: merge.Scope{Project: "secret"}, ID: "own"}, "text")
	tr.connect("anna", "ben")
	tr.pass(11 * time.Second)
	return tr
}

func lostMessage(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, true, `Anna writes twice, and the gossip of the first write is lost. A second after the last write she
compares: the root differs, and Ben's cursor is below her head. He asks for what came after it,
drops the entry that he has, and fetches the other.`)
	tr.meet()
	tr.unheard(func() {
		tr.share(40)
		tr.connect("anna", "ben")
		tr.pass(5 * time.Second)
	})
	lost := false
	tr.loses = func(d delivery) bool {
		isFirst := d.gossip != nil && !lost
		lost = lost || isFirst
		return isFirst
	}
	tr.write(tr.anna, "first", "text")
	tr.write(tr.anna, "second", "text")
	tr.pass(4 * time.Second)
	return tr
}

func coldJoin(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Ben is new and Anna holds much, so he pulls by ranges. He holds nothing: she divides what she has
into parts of at least four pages, and he fetches each as a gap, page by page. The cursor becomes
the head of the first answer. The pages are small here (8 KiB).`)
	tr.pageBytes = 8 << 10
	tr.meet()
	difference{onlyA: 320}.fill(tr.t, tr.anna, tr.ben)
	tr.connect("anna", "ben")
	tr.pass(3 * time.Second)
	return tr
}

func neverMet(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Both hold much that a third gave them, and have never met. Each has something that the other has
not, and of two items both have an edit. Who holds less asks first: spans that differ are divided
until few versions are left in them; those are listed but for what has a tag that was sent, and
fetched by key and writer, since they lie far apart. Then the other side does the same.`)
	tr.meet()
	difference{common: 400, onlyA: 2, onlyB: 1, newerA: 1, forked: 1}.fill(tr.t, tr.anna, tr.ben)
	tr.connect("anna", "ben")
	tr.pass(12 * time.Second)
	return tr
}

func neverMetClustered(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `As in never-met, but Ben has edited sixty items that lie next to each other. Little lies between
the versions that Anna finds in the list, so she fetches them by the tags of that list, under the
salt of its question: 6 bytes each instead of key and writer.`)
	tr.meet()
	difference{common: 400, newerB: 60, clustered: true}.fill(tr.t, tr.anna, tr.ben)
	tr.connect("anna", "ben")
	tr.pass(4 * time.Second)
	return tr
}

func lostTail(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Anna's disk loses its newest write: she comes back from a backup of the same store, under a new
incarnation, and writes something else. Ben's cursor lies beyond the end of the incarnation that it
is of. He is told so, compares by ranges, and Anna gets back from him what she had lost.`)
	tr.meet()
	var backup *store.Memory
	tr.unheard(func() {
		tr.share(40)
		tr.connect("anna", "ben")
		tr.pass(5 * time.Second)
		backup = tr.anna.disk.Clone()
		tr.write(tr.anna, "lost", "text")
		tr.pass(5 * time.Second)
		tr.isolate(tr.anna)
	})
	tr.anna.disk = backup
	tr.reopen(tr.anna)
	tr.write(tr.anna, "new", "text")
	tr.connect("anna", "ben")
	tr.pass(8 * time.Second)
	return tr
}

func busyPeer(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Anna answers no more than 8 KiB a second, 32 KiB at once. Beyond that she says BUSY, and after how
long it is worth asking again. Ben stores what came, asks no more until then, and goes on where he was.`)
	tr.answerRate, tr.pageBytes = 8<<10, 16<<10
	tr.meet()
	difference{onlyA: 320}.fill(tr.t, tr.anna, tr.ben)
	tr.connect("anna", "ben")
	tr.pass(20 * time.Second)
	return tr
}

func blobFetched(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `A record refers to content of a chunk and ten bytes. It comes by the feed, as any other; then Ben
wants the content, and asks Anna for it from the first byte that he lacks, no answer larger than
what her line has shown to carry, and none beyond a chunk.`)
	tr.meet()
	tr.refer(tr.anna, memoryKeyOf("with-content"), true, content(1, store.ChunkBytes+10))
	tr.connect("anna", "ben")
	tr.pass(3 * time.Second)
	return tr
}

func audited(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Both seem equal by count and sum. Once a minute each asks a random peer of a random part all the
same, in an exact question, whose print is made of every item hash: who may write can craft two sets
of equal sums, but not of equal hashes.`)
	tr.meet()
	tr.unheard(func() {
		tr.share(3000)
		tr.connect("anna", "ben")
		tr.pass(59500 * time.Millisecond)
	})
	tr.pass(time.Second)
	return tr
}

func anotherFleet(t *testing.T) *transcript {
	t.Helper()
	tr := newTranscript(t, false, `Ben belongs to another fleet. Nothing that he says is taken, and he is told why.`)
	tr.meet()
	tr.ben.fleet = merge.FleetID{0xb1, 0xb1}
	tr.reopen(tr.ben)
	tr.write(tr.anna, "ours", "text")
	tr.connect("anna", "ben")
	tr.drain()
	return tr
}
