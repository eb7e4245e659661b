package sync

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// serve checks what every request has in common and runs answer in one
// snapshot of the store. The responder keeps no state between requests.
func (e *Engine) serve(p *peer, id uint64, sectionID string, answer func(*store.Reader, merge.Section) (Message, error)) {
	section, err := merge.ParseSectionID(sectionID)
	if err != nil || !e.cfg.Share(section) {
		e.send(p, &Error{ID: id, Code: CodeNotShared})
		return
	}
	if !p.spend(e.now) {
		e.counters.BusySent++
		e.send(p, &Busy{ID: id, Retry: uint64(busyRetry.Milliseconds())})
		return
	}
	var m Message
	err = e.store.View(func(r *store.Reader) error {
		m, err = answer(r, section)
		return err
	})
	switch {
	case errors.Is(err, ErrProtocol):
		e.blame(p, err)
		e.send(p, &Error{ID: id, Code: CodeOutOfProtocol})
	case err != nil:
		e.counters.StoreErrors++
		e.send(p, &Error{ID: id, Code: CodeUnavailable})
	default:
		e.send(p, m)
	}
}

func (e *Engine) serveChanges(p *peer, m *Changes) {
	e.serve(p, m.ID, m.Section, func(r *store.Reader, section merge.Section) (Message, error) {
		if m.After > 0 {
			at := store.Cursor{Store: e.store.ID(), Incarnation: store.Incarnation(m.Incarnation), Seq: m.After}
			state, end, err := r.CheckCursor(at)
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
		return changesPage(r, section, m, e.cfg.PageBytes)
	})
}

// changesPage fills one page of a feed, up to a number of bytes.
func changesPage(r *store.Reader, section merge.Section, m *Changes, bytesMax int) (*ChangesPage, error) {
	page := &ChangesPage{ID: m.ID, Next: m.After, Done: true}
	size := 0
	var failed error
	err := r.Feed(section, m.After, func(f store.FeedEntry) (more bool) {
		cost := len(f.Key.Order()) + entryOverhead
		var wire []byte
		if m.Inline {
			if wire, failed = r.Wire(f.Key, f.Held); failed != nil {
				return false
			}
			cost = len(wire) + recordOverhead
		}
		if size > 0 && size+cost > bytesMax || len(page.Entries)+len(page.Records) == entriesMax {
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
		state, err := r.State(section)
		if err != nil {
			return nil, err
		}
		page.Next = max(page.Next, state.Head)
	}
	return page, nil
}

func (e *Engine) serveGet(p *peer, m *Get) {
	e.serve(p, m.ID, m.Section, func(r *store.Reader, section merge.Section) (Message, error) {
		answer := &Records{ID: m.ID, Records: [][]byte{}}
		size := 0
		for _, ref := range m.Refs {
			key, err := merge.ParseOrder(section, string(ref.Order))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
			}
			wire, err := heldWire(r, key, ref.Writer)
			if err != nil {
				return nil, err
			}
			if size > 0 && size+len(wire) > e.cfg.PageBytes {
				break
			}
			answer.Answered++
			if wire != nil { // else covered since: a later entry of the feed says by what
				answer.Records = append(answer.Records, wire)
				size += len(wire) + recordOverhead
			}
		}
		return answer, nil
	})
}

// heldWire returns the encoded version of a writer, nil when it is not held.
func heldWire(r *store.Reader, key merge.Key, writer merge.InstanceID) ([]byte, error) {
	held, err := r.Held(key)
	if err != nil {
		return nil, err
	}
	for _, h := range held {
		if h.Writer == writer {
			return r.Wire(key, h)
		}
	}
	return nil, nil
}

func (e *Engine) servePage(p *peer, m *PageReq) {
	e.serve(p, m.ID, m.Section, func(r *store.Reader, section merge.Section) (Message, error) {
		state, err := r.State(section)
		if err != nil {
			return nil, err
		}
		f := pageFiller{reader: r, bytesMax: e.cfg.PageBytes, page: &Page{ID: m.ID, Records: [][]byte{}, Done: true, Head: state.Head}}
		order, writer, within := strings.Cut(string(m.After), positionSeparator)
		if within {
			key, err := merge.ParseOrder(section, order)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
			}
			held, err := r.Held(key)
			if err != nil {
				return nil, err
			}
			f.add(key, held, writer)
		}
		if f.page.Done && f.err == nil {
			err = r.Range(section, order, func(key merge.Key, held []store.Held) bool {
				return f.add(key, held, "")
			})
		}
		sum := f.sum.Bytes()
		f.page.Sum = sum[:]
		return f.page, cmp.Or(f.err, err)
	})
}

// positionSeparator divides order key and writer in the position of a page: a
// key with many conflicts may not fit one page. No order key has two zero
// bytes in a row, so positions order as keys do.
const positionSeparator = "\x00\x00"

// pageFiller gathers records until a page is full.
type pageFiller struct {
	reader *store.Reader
	page   *Page
	sum    store.Sum
	size   int
	// bytesMax is where the page is full.
	bytesMax int
	err      error
}

// add takes the versions of one key whose writers come after a given one, in
// the order of writers. It returns false when the page is full or a read
// failed.
func (f *pageFiller) add(key merge.Key, held []store.Held, after string) (more bool) {
	byWriter := slices.Clone(held)
	slices.SortFunc(byWriter, func(a, b store.Held) int { return comparePeers(a.Writer, b.Writer) })
	for _, h := range byWriter {
		if string(h.Writer) <= after {
			continue
		}
		wire, err := f.reader.Wire(key, h)
		if err != nil {
			f.err = err
			return false
		}
		if f.size > 0 && f.size+len(wire) > f.bytesMax {
			f.page.Done = false
			return false
		}
		f.page.Records = append(f.page.Records, wire)
		f.page.Last = []byte(key.Order() + positionSeparator + string(h.Writer))
		f.sum = f.sum.Add(h.Hash)
		f.size += len(wire) + recordOverhead
	}
	return true
}
