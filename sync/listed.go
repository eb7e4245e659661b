package sync

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// listed is a version that a peer told of in an answer about ranges: of its item
// hash only the tag is known.
type listed struct {
	key merge.Key
	pos store.Position
	merge.Version
	tag tag
}

// listed reads what an answer lists. Whether it is by position, as it should be,
// matters only to who compares it with a list of its own. Errors: ErrProtocol.
func (m *ReconAnswer) listed(section merge.Section) ([]listed, error) {
	var orders chain
	list := make([]listed, 0, len(m.Items))
	for i := range m.Items {
		item := &m.Items[i]
		order, err := orders.restore(item.Shared, item.Rest)
		if err != nil {
			return nil, err
		}
		l := listed{tag: tag(item.Tag)}
		if l.key, err = merge.ParseOrder(section, order); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		if l.Stamp, err = hlc.Unpack(item.Stamp); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		l.Writer = m.Writers[item.Writer]
		l.pos = store.NewPosition(l.key, l.Writer)
		list = append(list, l)
	}
	return list, nil
}

// is reports whether the version may be the one with an item hash.
func (l *listed) is(salt []byte, item merge.Hash) bool { return tagOf(salt, item) == l.tag }

// isKnown is Known for a version of which only the tag is known.
func (l *listed) isKnown(r *store.Reader, salt []byte) (known bool, err error) {
	held, err := r.Held(l.key)
	if err != nil {
		return false, err
	}
	for _, h := range held {
		// Two versions of one writer and stamp differ in their hashes alone, as those
		// of a machine that runs twice: only the record tells which covers which.
		isTwin := h.Writer == l.Writer && h.Stamp == l.Stamp
		if l.is(salt, h.Hash) || !isTwin && merge.Covers(h.Version, l.Version) {
			return true, nil
		}
	}
	err = r.ParkedIn(l.key.Section(), spanOf(l.key), func(k merge.Key, item merge.Hash) bool {
		known = k == l.key && l.is(salt, item)
		return !known
	})
	return known, err
}

// spanOf is the span of the versions of one key.
func spanOf(key merge.Key) store.Span {
	at := store.NewPosition(key, "")
	return store.Span{After: at, UpTo: at + "\xff"}
}
