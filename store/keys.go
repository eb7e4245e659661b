package store

import (
	"encoding/binary"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Layout. Numbers after a name are bytes; integers are big-endian; sec8 is a
// local ordinal of a section, never on the wire. KEY is
// `kind 00 id 00 00`, the order key with a terminator: components carry no
// control characters, so byte order of KEY is order of keys, and no KEY is the
// prefix of another. Every value ends with a CRC32C (checksum.go).
//
//	r/ sec8 KEY seq8         record as received: of each held and each history version
//	v/ sec8 KEY              the key's held versions (row.go)
//	s/ sec8 seq8             feed: order key and writer, one row for each held version
//	h/ sec8 KEY seq8         covered version: everything of it but the record
//	e/ seq8                  state stream: type, path and reference, a dense counter of its own
//	i/ 1 sec8 KEY            the key has conflicts
//	i/ 2 name                the indexer's row
//	i/ 3 sec8 KEY            the key has versions in history that are retracted
//	c/ peer sec8             cursor in that peer's feed
//	q/ sec8 KEY itemHash32   parked version: reason, path, who delivered it, record
//	b/c hash32 chunk4        chunk of a blob, 256 KiB each but the last
//	b/r hash32 sec8          how many held and history versions of the section refer to the blob
//	b/s hash32               size of the blob, and how many bytes of it are here
//	b/w hash32               the blob is referred to and not all here
//	m/ format                format version
//	m/ store                 store id
//	m/ tail                  newest seq, event and stamp: written in every transaction
//	m/ index                 version of the indexer that wrote i/ 2
//	m/ judged                mark of the statements by which all versions were judged; empty when one may be judged otherwise
//	m/ incarnation n8        incarnation and the seq at which it began
//	m/ section sec8          section id, head, count, sum, suspect
//	m/ local name            node-private value
//
// One row a key in v/ lets a merge decide with one point read, and a record is
// keyed by its seq instead of its writer, so that covering a version moves no
// body: its row goes from v/ to h/, its record stays where it is.
const (
	prefixRecord      = "r/"
	prefixVersions    = "v/"
	prefixFeed        = "s/"
	prefixHistory     = "h/"
	prefixEvent       = "e/"
	prefixConflict    = "i/\x01"
	prefixIndex       = "i/\x02"
	prefixRetracted   = "i/\x03"
	prefixCursor      = "c/"
	prefixParked      = "q/"
	prefixChunk       = "b/c"
	prefixBlobRef     = "b/r"
	prefixBlob        = "b/s"
	prefixWanted      = "b/w"
	keyFormat         = "m/format"
	keyStore          = "m/store"
	keyTail           = "m/tail"
	keyIndexVersion   = "m/index"
	keyJudged         = "m/judged"
	prefixIncarnation = "m/incarnation/"
	prefixSection     = "m/section/"
	prefixLocal       = "m/local/"
)

const (
	ordinalBytes = 8
	seqBytes     = 8
	// terminator ends an order key within a longer key.
	terminator = "\x00\x00"
)

// ordinal is the local number of a section; the first is 1.
type ordinal uint64

func appendOrdinal(dst []byte, n ordinal) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n))
}

// ordinalAt reads the ordinal that a part of a key begins with.
func ordinalAt(key []byte) ordinal { return ordinal(binary.BigEndian.Uint64(key)) }

// appendSectionKey appends prefix and section: the common part of the rows of
// a section.
func appendSectionKey(dst []byte, prefix string, sec ordinal) []byte {
	return appendOrdinal(append(dst, prefix...), sec)
}

// appendRowKey appends prefix, section and KEY.
func appendRowKey(dst []byte, prefix string, sec ordinal, k merge.Key) []byte {
	dst = appendSectionKey(dst, prefix, sec)
	dst = append(dst, k.Kind...)
	dst = append(dst, 0)
	dst = append(dst, k.ID...)
	return append(dst, terminator...)
}

// appendSeqKey is appendRowKey with a seq after it.
func appendSeqKey(dst []byte, prefix string, sec ordinal, k merge.Key, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(appendRowKey(dst, prefix, sec, k), seq)
}

func feedKey(dst []byte, sec ordinal, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(appendSectionKey(dst, prefixFeed, sec), seq)
}

func eventKey(dst []byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, prefixEvent...), seq)
}

func peerKey(peer merge.InstanceID, sec ordinal) []byte {
	key := append([]byte(prefixCursor), peer...)
	return binary.BigEndian.AppendUint64(key, uint64(sec))
}

func parkedKey(dst []byte, sec ordinal, k merge.Key, item merge.Hash) []byte {
	return append(appendRowKey(dst, prefixParked, sec, k), item[:]...)
}

// rowKeySize is the length of appendRowKey with a suffix, for sizing buffers.
func rowKeySize(prefix string, k merge.Key, suffix int) int {
	return len(prefix) + ordinalBytes + len(k.Kind) + 1 + len(k.ID) + len(terminator) + suffix
}

// splitRowKey reads section and order key from a key that appendRowKey began
// and a suffix of a given length ends. Errors: ErrCorrupt.
func splitRowKey(prefix string, key []byte, suffix int) (sec ordinal, order string, err error) {
	begin, end := len(prefix)+ordinalBytes, len(key)-suffix-len(terminator)
	if end < begin || string(key[end:end+len(terminator)]) != terminator {
		return 0, "", fmt.Errorf("%w: key %q", ErrCorrupt, key)
	}
	sec = ordinalAt(key[len(prefix):])
	return sec, string(key[begin:end]), nil
}
