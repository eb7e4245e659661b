package sync

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"slices"

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
	h := sha256.New()
	h.Write(salt)
	sum := s.Sum.Bytes()
	h.Write(sum[:])
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], uint64(s.Count))
	h.Write(count[:])
	return h.Sum(nil)[:rootBytes]
}

// heads composes the state of the shared sections that keep accepts and whose
// ids are above after: as many as one message lists, read as one.
func (e *Engine) heads(after string, keep func(merge.Section) bool) (Heads, map[merge.Section]store.SectionState) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(e.cfg.Rand, salt); err != nil {
		panic("sync: randomness ended: " + err.Error())
	}
	h := Heads{Salt: salt, Clock: e.store.Clock().Last().Pack(), After: after, Sections: []SectionHead{}}
	h.Time = uint64(e.store.Clock().Wall())
	h.Withheld = append(h.Withheld, e.withheld...)
	states := map[merge.Section]store.SectionState{}
	for _, s := range e.sections() {
		id := s.Section.ID()
		if id <= after || !keep(s.Section) {
			continue
		}
		if len(h.Sections) == sectionsMax {
			h.To = h.Sections[len(h.Sections)-1].Section
			break
		}
		states[s.Section] = s
		h.Sections = append(h.Sections, SectionHead{
			Section: id, Head: s.Head, Count: uint64(s.Count), Root: saltedRoot(salt, s),
		})
	}
	return h, states
}

// sections returns the state of every shared section, by id.
func (e *Engine) sections() []store.SectionState {
	shared := slices.DeleteFunc(e.store.Sections(), func(s store.SectionState) bool { return !e.cfg.Share(s.Section) })
	slices.SortFunc(shared, func(a, b store.SectionState) int { return a.Section.Compare(b.Section) })
	return shared
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
