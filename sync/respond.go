package sync

import (
	"cmp"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// responder reads the store for one answer. It shares nothing with the engine
// that moves, so it may run on any goroutine.
type responder struct {
	reader  *store.Reader
	store   store.ID
	opened  store.Incarnation
	section merge.Section
	// bytesMax is where an answer is full.
	bytesMax int
	// cost is what was read and is sent, in bytes.
	cost int
}

// asked lowers where an answer is full to what was asked for; 0 leaves it.
func (r *responder) asked(bytes uint64) *responder {
	if bytes > 0 && bytes < uint64(r.bytesMax) {
		r.bytesMax = int(bytes)
	}
	return r
}

// wire returns an encoded version.
func (r *responder) wire(key merge.Key, h store.Held) ([]byte, error) {
	wire, err := r.reader.Wire(key, h)
	r.cost += len(wire)
	return wire, err
}

func (r *responder) changes(m *Changes) (Message, error) {
	if m.After > 0 {
		at := store.Cursor{Store: r.store, Incarnation: store.Incarnation(m.Incarnation), Seq: m.After}
		state, end, err := r.reader.CheckCursor(at)
		if err != nil {
			return nil, err
		}
		switch state {
		case store.CursorBeyond:
			return &CursorInvalid{ID: m.ID, Reason: "beyond the end of its incarnation", End: end}, nil
		case store.CursorUnknown:
			return &CursorInvalid{ID: m.ID, Reason: "unknown incarnation"}, nil
		case store.CursorValid:
		}
	}
	return r.changesPage(m)
}

// changesPage fills one page of a feed, up to a number of bytes.
func (r *responder) changesPage(m *Changes) (*ChangesPage, error) {
	page := &ChangesPage{ID: m.ID, Next: m.After, Done: true, Incarnation: uint64(r.opened)}
	size := 0
	var failed error
	err := r.reader.Feed(r.section, m.After, func(f store.FeedEntry) (more bool) {
		r.cost += lookupCost
		cost := len(f.Key.Order()) + entryOverhead
		var wire []byte
		if m.Inline {
			if wire, failed = r.wire(f.Key, f.Held); failed != nil {
				return false
			}
			cost = len(wire) + recordOverhead
		}
		if size > 0 && size+cost > r.bytesMax || len(page.Entries)+len(page.Records) == entriesMax {
			page.Done = false
			return false
		}
		if m.Inline {
			page.Records = append(page.Records, wire)
		} else {
			page.Entries = append(page.Entries, Entry{
				Order: []byte(f.Key.Order()), Writer: f.Writer, Stamp: f.Stamp.Pack(), Hash: f.Hash[:],
			})
		}
		size += cost
		page.Next = f.Seq
		return true
	})
	if err = cmp.Or(failed, err); err != nil {
		return nil, err
	}
	if page.Done {
		// Covered versions have no entry: the end of the feed is its head.
		state, err := r.reader.State(r.section)
		if err != nil {
			return nil, err
		}
		page.Next = max(page.Next, state.Head)
	}
	return page, nil
}

func (r *responder) get(m *Get) (Message, error) {
	if len(m.Tags) > 0 {
		return r.getTagged(m)
	}
	answer := &Records{ID: m.ID, Records: [][]byte{}}
	size := 0
	for _, ref := range m.Refs {
		key, err := merge.ParseOrder(r.section, string(ref.Order))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		wire, err := r.heldWire(key, ref.Writer)
		if err != nil {
			return nil, err
		}
		if size > 0 && size+len(wire) > r.bytesMax {
			break
		}
		answer.Answered++
		if wire != nil { // else covered since: a later entry of the feed says by what
			answer.Records = append(answer.Records, wire)
			size += len(wire) + recordOverhead
		}
	}
	return answer, nil
}

// getTagged answers a Get by tags. Those of versions that are not held any more
// are passed by.
func (r *responder) getTagged(m *Get) (Message, error) {
	places := make(map[tag]uint64, len(m.Tags)/tagBytes)
	for rest := m.Tags; len(rest) > 0; rest = rest[tagBytes:] {
		places[tag(rest)] = uint64(len(places))
	}
	answer := &Records{ID: m.ID, Answered: uint64(len(m.Tags) / tagBytes), Records: [][]byte{}}
	size := 0
	var failed error
	span := store.Span{After: store.Position(m.After), UpTo: store.Position(m.UpTo)}
	err := r.reader.Items(r.section, span, func(item store.Item) (more bool) {
		r.cost += scanCost
		place, wanted := places[tagOf(m.Salt, item.Hash)]
		if !wanted {
			return true
		}
		r.cost += lookupCost
		var wire []byte
		if wire, failed = r.wire(item.Key, item.Held); failed != nil {
			return false
		}
		if size > 0 && size+len(wire) > r.bytesMax {
			answer.Answered = place
			return false
		}
		answer.Records = append(answer.Records, wire)
		size += len(wire) + recordOverhead
		return true
	})
	return answer, cmp.Or(failed, err)
}

// heldWire returns the encoded version of a writer, nil when it is not held.
func (r *responder) heldWire(key merge.Key, writer merge.InstanceID) ([]byte, error) {
	r.cost += lookupCost
	held, err := r.reader.Held(key)
	if err != nil {
		return nil, err
	}
	for _, h := range held {
		if h.Writer == writer {
			return r.wire(key, h)
		}
	}
	return nil, nil
}

// page fills one page of a span, up to a number of bytes.
func (r *responder) page(m *PageReq) (Message, error) {
	head, err := r.reader.State(r.section)
	if err != nil {
		return nil, err
	}
	page := &Page{ID: m.ID, Records: [][]byte{}, Done: true, Head: head.Head, Incarnation: uint64(r.opened)}
	var sum store.Sum
	var items []store.Item
	size := 0
	err = r.reader.Items(r.section, store.Span{After: store.Position(m.After), UpTo: store.Position(m.UpTo)}, func(item store.Item) bool {
		if size > 0 && size+item.Size > r.bytesMax {
			page.Done = false
			return false
		}
		items = append(items, item)
		sum = sum.Add(item.Hash)
		size += item.Size + recordOverhead
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(items) > 0 {
		page.Last = []byte(items[len(items)-1].Position)
		if page.Records, err = r.reader.Wires(r.section, items); err != nil {
			return nil, err
		}
	}
	r.cost += size + len(items)*scanCost
	total := sum.Bytes()
	page.Sum = total[:]
	return page, nil
}
