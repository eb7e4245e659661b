package simulation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Some replicas run a later build: they write kinds and families that this one
// does not know, header fields that it does not know either, and their messages
// have further fields, and come between messages of further types. All of that
// the formats allow to newer builds, and a node of this one has to keep it, byte
// for byte, and to pass it on.

// newerField is the first key of a message that no build uses yet.
const newerField = 40

// typeNewer is the first type of message that no build uses yet.
const typeNewer = 60

// dialect is how a later build speaks.
type dialect struct{ dice dice }

// newDialect returns the dialect of a replica, nil for one of this build.
func (c *Cluster) newDialect(number int) *dialect {
	if !slices.Contains(c.plan.Newer, number) {
		return nil
	}
	return &dialect{newDice(c.plan.Seed, streamDialect+uint64(number)<<32)}
}

// frame returns the frame of a message to a peer as a later build sends it; nil
// when it would become too large.
func (r *Replica) newerFrame(to int, m fleetsync.Message) []byte {
	d := r.dialect
	payload, err := merge.Marshal(r.withLater(to, m))
	if err != nil {
		return nil
	}
	if payload, err = d.extend(m, payload); err != nil {
		return nil
	}
	const frameBytesMax = 1 << 20
	if len(payload)+2 > frameBytesMax {
		return nil
	}
	return frameOf(m.Type(), payload)
}

// withLater returns a copy of an answer with a record that is signed by an
// algorithm of later builds, now and then.
func (r *Replica) withLater(to int, m fleetsync.Message) fleetsync.Message {
	section := r.asked[to].section
	if records := recordsOf(m); records == nil || section.Family == "" || !r.dialect.dice.chance(0.2) {
		return m
	}
	frame, err := r.cluster.codec.Encode(m)
	if err != nil {
		return m
	}
	own, err := r.cluster.codec.DecodeFrame(frame)
	if err != nil {
		return m
	}
	wire, err := r.later(section)
	if err != nil {
		return m
	}
	records := recordsOf(own)
	*records = append(*records, wire)
	restate(own)
	return own
}

// later returns a record that is signed by an algorithm of later builds. Nobody
// else can tell whether it is good.
func (r *Replica) later(section merge.Section) ([]byte, error) {
	stamp := hlc.Timestamp{Wall: r.Now().UnixMilli(), Counter: 7}
	rec, err := r.seal(draft{key: merge.Key{Kind: section.Family, Scope: section.Scope, ID: merge.NewID("later")}, body: []byte{0xa0}}, nil, nil, stamp)
	if err != nil {
		return nil, err
	}
	const algorithm = 2
	return merge.Marshal(map[int]any{1: rec.Header(), 2: rec.Body, 3: algorithm, 4: bytes.Repeat([]byte{7}, 48)})
}

// frameOf is a frame of any content.
func frameOf(t fleetsync.MessageType, payload []byte) []byte {
	frame := binary.AppendUvarint(nil, uint64(len(payload)+2))
	return append(append(frame, byte(t), 0), payload...)
}

// extend adds fields to a message, and to its heads when it has some.
func (d *dialect) extend(m fleetsync.Message, payload []byte) ([]byte, error) {
	heads := uint64(0)
	switch m.(type) {
	case *fleetsync.Hello, *fleetsync.HelloAck:
		heads = 4
	case *fleetsync.Heartbeat:
		heads = 1
	}
	if heads != 0 {
		var fields map[uint64]cbor.RawMessage
		if err := merge.Unmarshal(payload, &fields); err != nil {
			return nil, err
		}
		fields[heads] = d.pair(fields[heads], newerField)
		var err error
		if payload, err = merge.Marshal(fields); err != nil {
			return nil, err
		}
	}
	for key := range d.dice.IntN(3) {
		payload = d.pair(payload, newerField+byte(key))
	}
	return payload, nil
}

// pair adds one pair to a small map whose keys are all less than key, which
// must have two bytes when encoded: 24 to 255.
func (d *dialect) pair(encoded []byte, key byte) []byte {
	const smallMap, smallMapMax = 0xa0, 23
	if len(encoded) == 0 || encoded[0] < smallMap || encoded[0] >= smallMap+smallMapMax {
		return encoded
	}
	more := slices.Clone(encoded)
	more[0]++
	return append(append(more, 0x18, key), d.value()...)
}

// value is anything that the house form allows.
func (d *dialect) value() []byte {
	values := []any{
		uint64(7), int64(-1), "later",
		[]byte{0, 1, 2},
		true, nil,
		[]any{1, []any{"x"}},
		map[int]any{-3: map[string]any{"y": []byte{9}}},
		uint64(1<<64 - 1), "",
		[]any{},
		map[int]any{},
	}
	b, err := merge.Marshal(values[d.dice.IntN(len(values))])
	if err != nil {
		panic("simulation: " + err.Error()) // each of them is sound
	}
	return b
}

// stranger is a message of a type that no build knows.
func (d *dialect) stranger() []byte {
	kinds := []fleetsync.MessageType{13, 16, 17, typeNewer, 255}
	return frameOf(kinds[d.dice.IntN(len(kinds))], d.value())
}

// gossip is a gossip message with a further field.
func (d *dialect) gossip(data []byte) []byte { return d.pair(data, newerField) }

// gossipLater gossips a record that only later builds can judge, now and then.
func (r *Replica) gossipLater() {
	if !r.dialect.dice.chance(0.1) {
		return
	}
	wire, err := r.later(merge.Section{Family: "memory"})
	if err != nil {
		return
	}
	g := fleetsync.Gossip{
		Fleet:  r.cluster.charter.fleet[:],
		Events: []fleetsync.GossipEvent{{Type: state.Indexer{}.EventType("memory", false), Record: wire}},
	}
	if data, err := merge.Marshal(g); err == nil {
		r.cluster.network.publish(r.number, data)
	}
}

// fields are pairs for the end of a header: of keys that no build knows, of any
// type, in canonical order.
func (d *dialect) fields() (pairs []byte, count byte) {
	for _, key := range [][]byte{{0x18, 40}, {0x18, 200}, {0x21}, {0x41, 7}, {0x63, 'n', 'e', 'w'}} {
		if d.dice.chance(0.5) {
			pairs, count = append(append(pairs, key...), d.value()...), count+1
		}
	}
	if count == 0 {
		return append([]byte{0x18, 40}, d.value()...), 1
	}
	return pairs, count
}

// sealNewer adds fields to the header of a sealed record and signs it anew, by
// the letter of merge/FORMAT.md.
func (d *dialect) sealNewer(rec *merge.Record, sign func([]byte) ([]byte, error)) (merge.Record, error) {
	pairs, count := d.fields()
	header := append(slices.Clone(rec.Header()), pairs...)
	header[0] += count
	message := append([]byte("fleetd/record/1\x00"), byte(merge.Ed25519))
	signature, err := sign(append(message, header...))
	if err != nil {
		return merge.Record{}, err
	}
	wire, err := merge.Marshal(map[int]any{1: header, 2: rec.Body, 3: byte(merge.Ed25519), 4: signature})
	if err != nil {
		return merge.Record{}, err
	}
	return merge.Decode(wire)
}

// newerKeys are keys of kinds that this build does not know, in families that
// it knows and in others.
func newerKeys() []merge.Key {
	return []merge.Key{
		{Kind: "board.card.comment", Scope: merge.Scope{Project: "web"}, ID: merge.NewID("a", "b", "c", "d")},
		{Kind: "board", ID: merge.NewID("x")},
		{Kind: "skill.review", ID: merge.NewID("shared-0", "r1")},
		{Kind: "memory.vector", Scope: merge.Scope{Project: "web", Workspace: "feature"}, ID: merge.NewID("v")},
	}
}

// writeNewer writes what a later build may: one of its own kinds, a broken value
// of a kind of ours, or the head of a key of ours with further header fields.
func (r *Replica) writeNewer(n int) error {
	if r.dialect == nil {
		return nil
	}
	keys := newerKeys()
	if n%12 == 11 && r.number == 0 {
		return r.stateNewer()
	}
	d := draft{newer: true, deleted: r.cluster.dice.chance(0.15)}
	switch n %= len(keys) + 3; {
	case n < len(keys):
		d.key, d.body = keys[n], r.dialect.value()
	case n == len(keys):
		d.key = merge.Key{Kind: pick(r.cluster.dice, "skill", "memory"), ID: merge.NewID("unreadable")}
		d.body = r.dialect.value()
	default:
		t := targetOf(r.cluster.dice.IntN(6))
		head, exists, err := r.head(t.key())
		if err != nil || !exists || head.Deleted {
			return err
		}
		if d.body, d.blobs, err = r.body(t.key(), head); err != nil {
			return err
		}
		d.key, d.deleted = t.key(), false
		if w := r.cluster.model.versions[head.Hash]; w != nil {
			d.said = w.said
		}
	}
	return r.write(d)
}

// body returns the value of a held version, and the content that it refers to.
func (r *Replica) body(key merge.Key, h store.Held) (body []byte, blobs []merge.BlobRef, err error) {
	err = r.read(func(s *store.Reader) error {
		rec, err := s.Load(key, h)
		body, blobs = rec.Body, rec.Blobs
		return err
	})
	return body, blobs, err
}

// stateNewer lets the admin state something of a kind that this build does not
// know. It is kept and passed on like a grant, and nothing follows from it.
func (r *Replica) stateNewer() error {
	st := r.Store()
	return st.Write(context.Background(), "statement", func(*store.Reader) ([]merge.Record, error) {
		stamp, err := st.Clock().Now()
		if err != nil {
			return nil, err
		}
		body, err := merge.Marshal(map[int]any{1: r.ID(), 2: stamp.Pack(), 30: "of a later build"})
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(body)
		d := draft{newer: true, body: body, key: merge.Key{Kind: "fleet.note", ID: merge.NewID(hex.EncodeToString(sum[:]))}}
		rec, err := r.seal(d, nil, nil, stamp)
		if err != nil {
			return nil, err
		}
		return []merge.Record{rec}, r.attempt(&rec)
	})
}

// newer draws replicas of a later build, and what they write.
func (p *planner) newer() {
	if !p.chance(0.3) {
		return
	}
	for _, r := range p.Perm(p.plan.Replicas)[:p.between(1, 2)] {
		p.plan.Newer = append(p.plan.Newer, r)
		for range p.between(2, 10) {
			p.add(p.at(), Step{Act: ActNewer, Replica: r, Count: p.IntN(12)})
		}
	}
}
