package store

// arenaBytes is the size of one block of an arena: the rows of a full
// transaction, records aside, mostly fit.
const arenaBytes = 256 << 10

// arena lends the bytes of the keys and values of one transaction, so that
// they cost no allocation each. What it lends is valid until reset.
type arena struct {
	block []byte
}

// reset takes everything back. The block is used again only when one was
// enough, so that a burst does not stay in memory.
func (a *arena) reset() { a.block = a.block[:0] }

// room returns an empty slice with a capacity of n bytes to append to.
func (a *arena) room(n int) []byte {
	if cap(a.block)-len(a.block) < n {
		a.block = make([]byte, 0, max(n, arenaBytes))
	}
	at := len(a.block)
	return a.block[at : at : at+n]
}

// keep makes permanent what was appended to the slice that room returned last.
// One that outgrew its capacity has moved elsewhere and needs nothing.
func (a *arena) keep(b []byte) {
	if at := len(a.block); at+len(b) <= cap(a.block) && len(b) > 0 && &a.block[:at+1][at] == &b[0] {
		a.block = a.block[:at+len(b)]
	}
}
