package simulation

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/fleetsync/fleetd/store"
)

// A virtual disk writes each update as one entry of a log, and the next process
// replays the log as far as it is whole. An entry is its length in 4 bytes,
// the CRC32C of the rest in 4 bytes, and for each write key and value behind
// their lengths; a removed row has no value at all.

const (
	entryHeadBytes = 8
	// removedRow stands in the place of the length of a value.
	removedRow = 1<<32 - 1
)

// recorder is a transaction that notes what is written.
type recorder struct {
	store.Txn
	ops []byte
}

// Set implements store.Txn.
func (r *recorder) Set(key, value []byte) error {
	if err := r.Txn.Set(key, value); err != nil {
		return err
	}
	r.ops = appendBytes(appendBytes(r.ops, key), value)
	return nil
}

// Delete implements store.Txn.
func (r *recorder) Delete(key []byte) error {
	if err := r.Txn.Delete(key); err != nil {
		return err
	}
	r.ops = binary.BigEndian.AppendUint32(appendBytes(r.ops, key), removedRow)
	return nil
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// sealEntry makes an entry of the writes of one update.
func sealEntry(ops []byte) []byte {
	entry := binary.BigEndian.AppendUint32(nil, uint32(len(ops)))
	entry = binary.BigEndian.AppendUint32(entry, crc32.Checksum(ops, crc32.MakeTable(crc32.Castagnoli)))
	return append(entry, ops...)
}

// replay carries out the entries of a log up to the first that is not whole,
// and returns their number: what follows that one is not looked at, since an
// update may build on all before it.
func replay(rows *store.Memory, log []byte) (entries int, err error) {
	for len(log) >= entryHeadBytes {
		size := uint64(binary.BigEndian.Uint32(log))
		sum := binary.BigEndian.Uint32(log[4:])
		log = log[entryHeadBytes:]
		if size > uint64(len(log)) || crc32.Checksum(log[:size], crc32.MakeTable(crc32.Castagnoli)) != sum {
			return entries, nil
		}
		if err := rows.Update(func(tx store.Txn) error { return replayEntry(tx, log[:size]) }); err != nil {
			return entries, err
		}
		log = log[size:]
		entries++
	}
	return entries, nil
}

// replayEntry carries out the writes of one entry, which is whole.
func replayEntry(tx store.Txn, ops []byte) error {
	take := func() (b []byte, removed bool) {
		n := binary.BigEndian.Uint32(ops)
		ops = ops[4:]
		if n == removedRow {
			return nil, true
		}
		b, ops = ops[:n:n], ops[n:]
		return b, false
	}
	for len(ops) > 0 {
		key, _ := take()
		value, removed := take()
		write := func() error { return tx.Set(key, value) }
		if removed {
			write = func() error { return tx.Delete(key) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}
