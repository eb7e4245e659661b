package state

import "github.com/fleetsync/fleetd/merge"

// imagesBlock is how many images are made room for at a time.
const imagesBlock = 256

// images are the newest images of the records of one kind. They lie in the order
// in which their records came first, since that is near the order in which they
// are listed, and in blocks, since a list that grew would move them all again.
type images[T any] struct {
	at     map[merge.Key]*place[T]
	blocks [][]place[T]
}

// place is where the image of a record lies.
type place[T any] struct {
	image T
	empty bool // of a record that was hidden: a later image goes to a new place
}

func newImages[T any]() images[T] { return images[T]{at: map[merge.Key]*place[T]{}} }

// get returns the image of a record, the zero one when there is none.
func (s *images[T]) get(key merge.Key) (image T) {
	if p := s.at[key]; p != nil {
		image = p.image
	}
	return image
}

// set makes an image the newest of its record, and reports whether it is the
// first.
func (s *images[T]) set(key merge.Key, image T) (first bool) {
	if p := s.at[key]; p != nil {
		p.image = image
		return false
	}
	last := len(s.blocks) - 1
	if last < 0 || len(s.blocks[last]) == imagesBlock {
		s.blocks = append(s.blocks, make([]place[T], 0, imagesBlock))
		last++
	}
	s.blocks[last] = append(s.blocks[last], place[T]{image: image})
	s.at[key] = &s.blocks[last][len(s.blocks[last])-1]
	return true
}

// delete takes the image of a record away.
func (s *images[T]) delete(key merge.Key) {
	if p := s.at[key]; p != nil {
		*p = place[T]{empty: true}
		delete(s.at, key)
	}
}

// list returns the images. The caller owns the list.
func (s *images[T]) list() []T {
	list := make([]T, 0, len(s.at))
	for _, block := range s.blocks {
		for i := range block {
			if !block[i].empty {
				list = append(list, block[i].image)
			}
		}
	}
	return list
}
