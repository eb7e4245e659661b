package sync

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Gossip is one message of live replication: the state-stream events of one
// commit. It is a hint; nothing depends on its arrival.
type Gossip struct {
	Fleet []byte `cbor:"1,keyasint"` // 32 bytes
	// Events carry whole records.
	Events []GossipEvent `cbor:"2,keyasint,omitempty"`
	// Announced are sections with records too large to gossip: the receiver
	// pulls from whoever it heard it from.
	Announced []string `cbor:"3,keyasint,omitempty"`
}

// GossipEvent is one event: its type, and the signed record that is its
// post-image.
type GossipEvent struct {
	_      struct{} `cbor:",toarray"`
	Type   string
	Record []byte
}

// DecodeGossip reads a gossip message and its records, and checks limits,
// fleet and that each event's type is the one that follows from the record.
// Signatures are for the caller. Errors: ErrMalformed, ErrTooLarge; and
// merge.ErrUnsupported for a message with a record that a later build alone can
// judge, which is nobody's fault.
func DecodeGossip(data []byte, fleet merge.FleetID, eventType func(kind string, deleted bool) string) (GossipBatch, error) {
	if len(data) > GossipBytesMax {
		return GossipBatch{}, fmt.Errorf("%w: gossip of %d bytes", ErrTooLarge, len(data))
	}
	var g Gossip
	if err := merge.Unmarshal(data, &g); err != nil {
		return GossipBatch{}, fmt.Errorf("%w: gossip: %w", ErrMalformed, err)
	}
	if string(g.Fleet) != string(fleet[:]) {
		return GossipBatch{}, fmt.Errorf("%w: gossip of another fleet", ErrMalformed)
	}
	if len(g.Events) > gossipEventsMax || len(g.Announced) > sectionsMax {
		return GossipBatch{}, fmt.Errorf("%w: gossip of %d events", ErrTooLarge, len(g.Events))
	}
	var batch GossipBatch
	for _, e := range g.Events {
		r, err := merge.Decode(e.Record)
		switch {
		case errors.Is(err, merge.ErrUnsupported):
			return GossipBatch{}, fmt.Errorf("sync: gossip: %w", err)
		case err != nil:
			return GossipBatch{}, fmt.Errorf("%w: gossip: %w", ErrMalformed, err)
		}
		if want := eventType(r.Key.Kind, r.Envelope.Deleted); e.Type != want {
			return GossipBatch{}, fmt.Errorf("%w: gossip calls a %s %.60q", ErrMalformed, want, e.Type)
		}
		batch.Records = append(batch.Records, &r)
	}
	for _, id := range g.Announced {
		section, err := merge.ParseSectionID(id)
		if err != nil {
			return GossipBatch{}, fmt.Errorf("%w: gossip: %w", ErrMalformed, err)
		}
		batch.Announced = append(batch.Announced, section)
	}
	return batch, nil
}

// GossipBatch is a decoded gossip message.
type GossipBatch struct {
	Records   []*merge.Record
	Announced []merge.Section
}

// topicFamilies are the families with a topic of their own; all others share
// one, so that the number of topics never grows with what is stored.
var topicFamilies = [...]string{"fleet", "skill", "memory", "session"}

const topicOther = "other"

// Topic returns the gossip topic of a family within a fleet.
func Topic(fleet merge.FleetID, family string) string {
	name := topicOther
	for _, f := range topicFamilies {
		if f == family {
			name = f
		}
	}
	return "/fleet/" + hex.EncodeToString(fleet[:8]) + "/" + name
}

// Topics returns every topic of a fleet in which something may come that is
// shared.
func Topics(fleet merge.FleetID, sharing *Sharing) []string {
	topics := []string{Topic(fleet, topicOther)}
	for _, f := range topicFamilies {
		if sharing.SharesFamily(f) {
			topics = append(topics, Topic(fleet, f))
		}
	}
	return topics
}

// composer splits the records of a commit into gossip messages by topic and
// size.
type composer struct {
	cfg  *Config
	open []*draft // in order of first use
	out  []Publish
}

// draft is the message of one topic that is being filled.
type draft struct {
	topic  string
	gossip Gossip
	size   int // bytes of events so far
}

// eventOverhead is more than an event adds to its record: type and CBOR heads.
const eventOverhead = 128

// composeGossip returns the messages for the shared records of a commit.
func composeGossip(cfg *Config, records []merge.Record) []Publish {
	c := composer{cfg: cfg}
	for i := range records {
		if r := &records[i]; cfg.Sharing.Shares(r.Key.Section()) {
			c.add(r)
		}
	}
	for _, d := range c.open {
		c.flush(d)
	}
	return c.out
}

func (c *composer) add(r *merge.Record) {
	const room = GossipBytesMax - 2*eventOverhead
	d := c.draft(Topic(c.cfg.Fleet, r.Key.Family()))
	wire := r.Encode()
	size := len(wire) + eventOverhead
	if size > room {
		d.gossip.Announced = append(d.gossip.Announced, r.Key.Section().ID())
		c.flush(d)
		return
	}
	if d.size+size > room || len(d.gossip.Events) == gossipEventsMax {
		c.flush(d)
	}
	d.gossip.Events = append(d.gossip.Events, GossipEvent{Type: c.cfg.EventType(r.Key.Kind, r.Envelope.Deleted), Record: wire})
	d.size += size
}

func (c *composer) draft(topic string) *draft {
	for _, d := range c.open {
		if d.topic == topic {
			return d
		}
	}
	d := &draft{topic: topic}
	c.open = append(c.open, d)
	return d
}

// flush moves what a draft holds to the output and empties it.
func (c *composer) flush(d *draft) {
	if len(d.gossip.Events) == 0 && len(d.gossip.Announced) == 0 {
		return
	}
	d.gossip.Fleet = c.cfg.Fleet[:]
	c.out = append(c.out, Publish{Topic: d.topic, Data: mustMarshal(d.gossip)})
	d.gossip, d.size = Gossip{}, 0
}

// mustMarshal encodes a message that this package composed.
func mustMarshal(v any) []byte {
	b, err := merge.Marshal(v)
	if err != nil {
		panic("sync: " + err.Error())
	}
	return b
}
