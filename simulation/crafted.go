package simulation

import (
	"slices"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func number(n int) string { return strconv.Itoa(n) }

// number returns another number in the place of one.
func (a *adversary) number(n uint64) uint64 {
	return pick(a.dice, 0, 1, n+1, n-1, n+uint64(a.dice.IntN(1000)), n/2, 1<<63, 1<<64-1, a.dice.Uint64())
}

func (a *adversary) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(a.dice.IntN(256))
	}
	return b
}

// someSection returns a section that is shared, private, or that nobody has.
func (a *adversary) someSection() merge.Section {
	families := []string{"skill", "memory", "fleet", "note", "session", "claim"}
	all := append(scopes(), merge.Scope{Instance: "r0"}, merge.Scope{Project: "made up"})
	return merge.Section{Family: families[a.dice.IntN(len(families))], Scope: all[a.dice.IntN(len(all))]}
}

// craft makes records that are signed as they must be and say what they must
// not, and lets them go with gossip and with the answers about their section.
func (a *adversary) craft(s Step) error {
	key := targetOf(s.Count % 12).key()
	switch s.Act {
	case ActPoison:
		return a.poison(key, s.For)
	case ActEquivocate:
		return a.equivocate(key)
	case ActForgeBasis:
		return a.forgeBasis(key)
	default:
		return a.makeUp(1 + s.Count%8)
	}
}

// body is a value that agents can read, of a skill and of a memory item.
func (a *adversary) body() []byte {
	a.serial++
	text := "made by " + a.replica.name + " " + number(a.serial)
	b, err := merge.Marshal(map[int]any{2: 1, 5: text, 6: text})
	if err != nil {
		panic("simulation: " + err.Error()) // it is sound
	}
	return b
}

// poison writes a key as of a time that is to come.
func (a *adversary) poison(key merge.Key, ahead time.Duration) error {
	stamp := hlc.Timestamp{Wall: min(a.replica.Now().Add(ahead).UnixMilli(), 1<<47-1), Counter: uint16(a.dice.IntN(1 << 16))}
	rec, made, err := a.write(key, stamp)
	if made {
		a.spread(FaultPoison, rec)
	}
	return err
}

// write seals a version by the rules that honest writers follow but for its
// stamp, and keeps it from its own store.
func (a *adversary) write(key merge.Key, stamp hlc.Timestamp) (rec merge.Record, made bool, err error) {
	held, err := a.replica.held(key)
	if err != nil {
		return rec, false, err
	}
	if n := len(held); n > 0 && !stamp.After(held[n-1].Stamp) {
		return rec, false, nil
	}
	rec, err = a.replica.seal(draft{key: key, body: a.body()}, versionsOf(held), nil, stamp)
	return rec, err == nil, err
}

// equivocate writes two versions of a key under one stamp, and tells one half of
// the fleet the one, and the rest the other.
func (a *adversary) equivocate(key merge.Key) error {
	stamp := hlc.Timestamp{Wall: a.replica.Now().UnixMilli(), Counter: uint16(1000 + a.dice.IntN(1000))}
	var twins []merge.Record
	for range 2 {
		rec, made, err := a.write(key, stamp)
		if err != nil || !made {
			return err
		}
		twins = append(twins, rec)
	}
	a.spread(FaultEquivocation, twins...)
	return nil
}

// forgeBasis writes a key and claims to have seen everything that anybody may
// have written until then.
func (a *adversary) forgeBasis(key merge.Key) error {
	r := a.replica
	stamp := hlc.Timestamp{Wall: r.Now().UnixMilli(), Counter: uint16(2000 + a.dice.IntN(1000))}
	var basis merge.Basis
	for _, other := range r.cluster.replicas {
		basis = basis.With(other.ID(), stamp)
	}
	rec, err := merge.Seal(merge.Record{
		Fleet: r.cluster.charter.fleet, Key: key, Basis: basis, Body: a.body(),
		Envelope: merge.Envelope{SyncVersion: 1 + int64(a.dice.IntN(1000)), OriginInstanceID: r.ID(), UpdatedHLC: stamp, LastWriterID: r.ID()},
	}, merge.Ed25519, r.identity.Sign)
	if err == nil {
		a.spread(FaultForgedBasis, rec)
	}
	return err
}

// makeUp lets members write that do not exist, and grants them membership,
// which a member may not.
func (a *adversary) makeUp(count int) error {
	c := a.replica.cluster
	for range count {
		a.serial++
		name := "made up " + number(a.serial)
		id, err := fleet.NewIdentity(entropy(c.plan.Seed, streamAdversary+uint64(a.replica.number)<<32+uint64(a.serial)))
		if err != nil {
			return err
		}
		stamp := hlc.Timestamp{Wall: a.replica.Now().UnixMilli()}
		key := targetOf(a.dice.IntN(12)).key()
		rec, err := merge.Seal(merge.Record{
			Fleet: c.charter.fleet, Key: key, Basis: merge.Basis{}.With(id.ID(), stamp), Body: a.body(),
			Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: id.ID(), UpdatedHLC: stamp, LastWriterID: id.ID()},
		}, merge.Ed25519, id.Sign)
		if err != nil {
			return err
		}
		g := fleet.Grant{Member: id.ID(), Name: name, Role: fleet.RoleAdmin, Issued: hlc.Timestamp{Wall: stamp.Wall - 1}}
		if a.dice.chance(0.5) {
			g.Role, g.Capabilities = fleet.RoleMember, []string{fleet.CapabilityAll}
		}
		grant, err := fleet.SealGrant(c.charter.fleet, a.replica.identity, g, stamp)
		if err != nil {
			return err
		}
		a.spread(FaultMadeUp, rec)
		a.spread(FaultMadeUp, grant)
	}
	return nil
}

// spread lets records go by gossip and with answers; of several each goes to
// other replicas.
func (a *adversary) spread(fault Fault, recs ...merge.Record) {
	c := a.replica.cluster
	for i := range recs {
		rec := &recs[i]
		c.model.craft(rec)
		a.replica.note("makes %s", c.model.describe(rec.Hash()))
		section := rec.Key.Section()
		a.cargo[section] = append(a.cargo[section], cargo{wire: rec.Encode(), fault: fault, side: i, sides: len(recs)})
		if c.plan.Gossip {
			a.rumour(a.gossipOf(rec), fault, func(number int) bool { return number%len(recs) == i })
		}
	}
}

func (a *adversary) gossipOf(recs ...*merge.Record) []byte {
	g := fleetsync.Gossip{Fleet: a.replica.cluster.charter.fleet[:]}
	for _, rec := range recs {
		g.Events = append(g.Events, fleetsync.GossipEvent{
			Type: state.Indexer{}.EventType(rec.Key.Kind, rec.Envelope.Deleted), Record: rec.Encode(),
		})
	}
	data, err := merge.Marshal(g)
	if err != nil {
		return nil
	}
	return data
}

// forgeRecord returns a record that is not what its writer signed.
func (a *adversary) forgeRecord(wire []byte) []byte {
	bad := slices.Clone(wire)
	rec, err := merge.Decode(wire)
	if err != nil {
		return bad
	}
	stolen := func([]byte) ([]byte, error) { return rec.Signature, nil }
	forged := rec
	switch a.dice.IntN(6) {
	case 0: // its signature is another
		bad[len(bad)-1-a.dice.IntN(64)]++
		return bad
	case 1:
		return damage(a.dice, wire)
	case 2: // the body is another, by the same hand
		forged.Body = append(slices.Clone(rec.Body), 0)
	case 3:
		forged.Envelope.UpdatedHLC.Counter++
		forged.Basis = slices.Clone(rec.Basis).With(rec.Envelope.LastWriterID, forged.Envelope.UpdatedHLC)
	case 4:
		forged.Envelope.Deleted = !rec.Envelope.Deleted
	default: // of another fleet
		forged.Fleet[0]++
	}
	sealed, err := merge.Seal(forged, merge.Ed25519, stolen)
	if err != nil {
		return damage(a.dice, wire)
	}
	return sealed.Encode()
}

// forgedGossip is a message that no honest member would pass on, or one that
// each of them does, and that leads nowhere.
func (a *adversary) forgedGossip() []byte {
	c := a.replica.cluster
	w := c.model.order[a.dice.IntN(len(c.model.order))]
	held, err := a.replica.held(w.record.Key)
	if err != nil || !slices.ContainsFunc(held, func(h store.Held) bool { return h.Hash == w.record.Hash() }) {
		return nil // it does not know that one
	}
	sound := a.gossipOf(&w.record)
	switch a.dice.IntN(4) {
	case 0:
		return damage(a.dice, sound)
	case 1:
		forged := fleetsync.Gossip{Fleet: c.charter.fleet[:], Events: []fleetsync.GossipEvent{{
			Type: state.Indexer{}.EventType(w.record.Key.Kind, w.record.Envelope.Deleted), Record: a.forgeRecord(w.record.Encode()),
		}}}
		data, _ := merge.Marshal(forged)
		return data
	case 2:
		announced := fleetsync.Gossip{Fleet: c.charter.fleet[:]}
		for range a.dice.between(1, 20) {
			announced.Announced = append(announced.Announced, a.someSection().ID())
		}
		data, _ := merge.Marshal(announced)
		return data
	default:
		return sound // old, and known to all
	}
}

// unasked is an answer to something that the peer has asked before, or to
// nothing at all.
func (a *adversary) unasked(to int) fleetsync.Message {
	q := a.replica.asked[to]
	id := pick(a.dice, q.id, q.id, q.id+1, a.dice.Uint64())
	sum := make([]byte, 32)
	return pick[fleetsync.Message](
		a.dice,
		&fleetsync.ChangesPage{ID: id, Next: a.number(q.after), Done: true},
		&fleetsync.Page{ID: id, Records: [][]byte{}, Done: true, Sum: sum, Head: a.number(q.after)},
		&fleetsync.Records{ID: id, Answered: 1, Records: [][]byte{}},
		&fleetsync.ReconAnswer{ID: id, Spans: []fleetsync.ReconSpan{{Mode: modeCompare, Count: a.number(9), Print: a.bytes(printBytes)}}},
		&fleetsync.CursorInvalid{ID: id, Reason: "unasked"},
		&fleetsync.Busy{ID: id, Retry: 60_000},
		&fleetsync.Error{ID: id, Code: fleetsync.CodeNotShared},
		&fleetsync.Bye{Reason: "unasked"},
	)
}

// prying asks for what is not shared.
func (a *adversary) prying(to int) fleetsync.Message {
	id := a.dice.Uint64()
	private := pick(
		a.dice, merge.Section{Family: "session"}, merge.Section{Family: "session.turn"},
		merge.Section{Family: "skill", Scope: merge.Scope{Instance: a.replica.cluster.replicas[to].name}},
	).ID()
	if len(a.pried) == pastMax {
		a.pried = a.pried[1:]
	}
	a.pried = append(a.pried, id)
	return pick[fleetsync.Message](
		a.dice, &fleetsync.Changes{ID: id, Section: private, Inline: true}, &fleetsync.PageReq{ID: id, Section: private},
		a.broadQuestion(id, private, 2), a.broadGet(id, private),
		&fleetsync.Get{ID: id, Section: private, Refs: []fleetsync.Ref{{
			Order: []byte(merge.Key{Kind: "skill", ID: merge.NewID("mine")}.Order()), Writer: a.replica.cluster.replicas[to].ID(),
		}}},
	)
}

// flood is one of many requests.
func (a *adversary) flood() fleetsync.Message {
	all := scopes()
	section := merge.Section{Family: pick(a.dice, "skill", "memory"), Scope: all[a.dice.IntN(len(all))]}.ID()
	id := a.dice.Uint64()
	switch a.dice.IntN(10) {
	case 0:
		return a.broadQuestion(id, section, spansMax/16)
	case 1:
		return a.broadGet(id, section)
	case 2, 3, 4, 5:
		return &fleetsync.PageReq{ID: id, Section: section}
	}
	return &fleetsync.Changes{ID: id, Section: section, Inline: true}
}
