package simulation

import fleetsync "github.com/fleetsync/fleetd/sync"

// forgeContent changes a part of a content that a hostile member serves. What it
// serves with others is theirs in part, and only the whole shows that it is wrong.
func (a *adversary) forgeContent(m *fleetsync.Blob) {
	switch a.dice.IntN(8) {
	case 0:
		m.ID = a.number(m.ID)
	case 1: // it does not have it, it says
		m.Bytes, m.Size = nil, 0
	case 2: // it is longer than it is
		m.Size = min(m.Size+1+a.dice.Uint64N(contentBytesMax), contentBytesMax)
	case 3: // it ends earlier
		m.Size = uint64(len(m.Bytes))
	case 4: // more than it says, or than was asked for
		m.Bytes = append(m.Bytes, a.bytes(a.dice.between(1, 300))...)
	case 5: // of what it has it sends nothing
		m.Bytes = nil
	default:
		m.Bytes = a.bytes(len(m.Bytes))
	}
}

// contentBytesMax is the longest content that a message may tell of.
const contentBytesMax = 8 << 20
