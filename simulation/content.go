package simulation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// lackingContent says which replica lacks content that it could have: another one
// has all of it, and refers to it in a section that everybody shares. It is empty
// when nobody does. What nobody has any more is owed by nobody, and what only
// versions in a history refer to neither: the neighbours may never have held them.
func (c *Cluster) lackingContent(members []*Replica, shared func(merge.Section) bool) (lacks string, err error) {
	for _, r := range members {
		var wanted []store.WantedBlob
		err := r.read(func(s *store.Reader) error {
			return s.Wanted(merge.Hash{}, func(w store.WantedBlob) bool {
				w.Sections = slices.DeleteFunc(w.Sections, func(sec merge.Section) bool { return !shared(sec) })
				wanted = append(wanted, w)
				return true
			})
		})
		if err != nil {
			return "", err
		}
		var held map[merge.Hash]bool
		if len(wanted) > 0 {
			if held, err = r.heldContent(); err != nil {
				return "", err
			}
		}
		for i := range wanted {
			if !held[wanted[i].Hash] {
				continue
			}
			holder, err := holderOf(members, &wanted[i])
			if err != nil {
				return "", err
			}
			if holder != nil {
				return fmt.Sprintf("replica %d lacks the content %x of %v, which replica %d has", r.number, wanted[i].Hash[:4], wanted[i].Sections, holder.number), nil
			}
		}
	}
	return "", nil
}

// heldContent returns the content that held versions refer to.
func (r *Replica) heldContent() (map[merge.Hash]bool, error) {
	content := map[merge.Hash]bool{}
	var refer []merge.Key
	err := r.eachHeld(func(k merge.Key, v store.Held) {
		if v.Blobs {
			refer = append(refer, k)
		}
	})
	if err != nil {
		return nil, err
	}
	err = r.read(func(s *store.Reader) error {
		for _, k := range refer {
			held, err := s.Held(k)
			if err != nil {
				return err
			}
			for _, h := range held {
				rec, err := s.Load(k, h)
				if err != nil {
					return err
				}
				for _, ref := range rec.Blobs {
					content[ref.Hash] = true
				}
			}
		}
		return nil
	})
	return content, err
}

// holderOf returns a replica that would serve content; nil for none.
func holderOf(members []*Replica, w *store.WantedBlob) (holder *Replica, err error) {
	for _, r := range members {
		err := r.read(func(s *store.Reader) error {
			complete, err := s.IsComplete(w.Hash)
			if err != nil || !complete {
				return err
			}
			for _, sec := range w.Sections {
				refers, err := s.Refers(sec, w.Hash)
				if err != nil {
					return err
				}
				if refers {
					holder = r
				}
			}
			return nil
		})
		if err != nil || holder != nil {
			return holder, err
		}
	}
	return nil, nil //nolint:nilnil // nobody is an answer
}

// contents is how many answers all texts take that come beside their records, and
// how many bytes that costs whoever answers.
func (c *Cluster) contents() (answers, bytes int) {
	const partBytes, answerBytes = 16 << 10, 6 << 10 // of a node whose pages are small
	inline := cmp.Or(c.plan.InlineBytes, state.InlineBytesDefault)
	for _, w := range c.model.order {
		if w.said == nil || len(w.said.Text) <= inline {
			continue
		}
		parts := 1 + len(w.said.Text)/partBytes
		answers += parts
		bytes += len(w.said.Text) + parts*answerBytes
	}
	return answers, bytes
}
