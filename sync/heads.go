package sync

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

const (
	saltBytes = 8
	rootBytes = 16
	sumBytes  = 32
)

// saltedRoot is how a root travels: 16 bytes of SHA-256 over the salt of the
// message, the sum and the count, so that it says nothing outside of its
// exchange.
func saltedRoot(salt []byte, s store.SectionState) []byte {
	return saltedDigest(salt, s.Digest)[:rootBytes]
}

// saltedDigest is SHA-256 over salt, sum and count.
func saltedDigest(salt []byte, d store.Digest) []byte {
	h := sha256.New()
	h.Write(salt)
	sum := d.Sum.Bytes()
	h.Write(sum[:])
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], uint64(d.Count))
	h.Write(count[:])
	return h.Sum(nil)
}

// heads composes the state of the shared sections that keep accepts and whose
// ids are above after: as many as one message lists, read as one.
func (e *Engine) heads(after string, keep func(merge.Section) bool) (Heads, map[merge.Section]store.SectionState) {
	h := Heads{Salt: e.salt(), Clock: e.store.Clock().Last().Pack(), After: after, Sections: []SectionHead{}}
	h.Time = uint64(e.store.Clock().Wall())
	h.Withheld = append(h.Withheld, e.withheld...)
	states := map[merge.Section]store.SectionState{}
	ready := e.store.Ready()
	for _, s := range e.ownWithin(&h) {
		if !keep(s.Section) {
			continue
		}
		if len(h.Sections) == sectionsMax {
			h.To = h.Sections[len(h.Sections)-1].Section
			break
		}
		states[s.Section] = s.SectionState
		told := SectionHead{Section: s.id, Head: s.Head, Count: uint64(s.Count), Root: []byte{}}
		if ready {
			told.Root = saltedRoot(h.Salt, s.SectionState)
		}
		h.Sections = append(h.Sections, told)
	}
	return h, states
}

// ownSection is the state of a section of this node, with its id.
type ownSection struct {
	id string
	store.SectionState
}

// ownSections are the shared sections of this node by id, as they were when
// the store last changed.
type ownSections struct {
	head   uint64 // of the store
	sorted []ownSection
	ids    map[merge.Section]string // made once each; empty for what is not shared
}

// sections returns the state of every shared section, by id. It must not be
// changed.
func (e *Engine) sections() []ownSection {
	o := &e.own
	head := e.store.Head() // before the sections: they may be newer, not older
	if head == o.head && o.ids != nil {
		return o.sorted
	}
	if o.ids == nil {
		o.ids = map[merge.Section]string{}
	}
	o.head, o.sorted = head, nil
	for _, s := range e.store.Sections() {
		id, known := o.ids[s.Section]
		if !known {
			if e.cfg.Sharing.Shares(s.Section) {
				id = s.Section.ID()
			}
			o.ids[s.Section] = id
		}
		if id != "" {
			o.sorted = append(o.sorted, ownSection{id: id, SectionState: s})
		}
	}
	slices.SortFunc(o.sorted, func(a, b ownSection) int { return strings.Compare(a.id, b.id) })
	return o.sorted
}

// ownWithin returns those that a list of heads speaks of.
func (e *Engine) ownWithin(h *Heads) []ownSection {
	all := e.sections()
	from, to := h.bounds(len(all), func(i int) string { return all[i].id })
	return all[from:to]
}

func everySection(merge.Section) bool { return true }

func sortedSections(set map[merge.Section]bool) []merge.Section {
	return slices.SortedFunc(maps.Keys(set), merge.Section.Compare)
}

func sectionsOf(h *Heads) map[merge.Section]bool {
	listed := make(map[merge.Section]bool, len(h.Sections))
	for _, s := range h.Sections {
		if section, err := merge.ParseSectionID(s.Section); err == nil {
			listed[section] = true
		}
	}
	return listed
}
