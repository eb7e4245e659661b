package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

const (
	// pipeTxn is how many records a pipe stores in one synced transaction.
	pipeTxn = 2 * signaturesMax
	// pipeBuffer is what each end of it holds.
	pipeBuffer = 256 << 10
)

// pipeEnd takes in what came, in one synced transaction.
type pipeEnd func(records []*merge.Record, wires [][]byte) error

// pipeToStore is a pipe whose end is a store as a node has it.
func pipeToStore(dir string, from *store.Store) (s speed, err error) {
	engine, err := store.OpenBadger(filepath.Join(dir, "pipe-store"), store.BadgerOptions{})
	if err != nil {
		return speed{}, err
	}
	st, err := store.Open(engine, store.Config{Now: time.Now, Rand: rand.Reader, Indexer: state.Indexer{}})
	if err != nil {
		return speed{}, errors.Join(err, engine.Close())
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return pipe(from, func(records []*merge.Record, _ [][]byte) error {
		batch := store.Batch{Path: store.PathReconcile, Records: make([]merge.Record, len(records))}
		for i, rec := range records {
			batch.Records[i] = *rec
		}
		_, err := st.Merge(context.Background(), batch)
		return err
	})
}

// pipeToRows is a pipe whose end is badger alone, with one row a record, which it
// looks up first.
func pipeToRows(dir string, from *store.Store) (speed, error) {
	db, err := openRaw(filepath.Join(dir, "pipe"))
	if err != nil {
		return speed{}, err
	}
	defer func() { _ = db.Close() }()
	return pipe(from, func(records []*merge.Record, wires [][]byte) error { return pipeStore(db, records, wires) })
}

// pipe measures the plainest way to bring the memory items of a store to
// another disk: read, send over loopback, decode, check signatures in batches,
// take in; one after the other on the receiving side.
func pipe(st *store.Store, end pipeEnd) (speed, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return speed{}, err
	}
	defer func() { _ = listener.Close() }()
	began, cpu := time.Now(), cpuTime()
	sent := make(chan error, 1)
	go func() { sent <- pipeOut(listener, st) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return speed{}, err
	}
	n, err := pipeIn(conn, end)
	if err = errors.Join(err, conn.Close(), <-sent); err != nil {
		return speed{}, err
	}
	return speed{rate: float64(n) / time.Since(began).Seconds(), cpu: cpuTime() - cpu}, nil
}

// pipeOut sends every memory item, each after its length.
func pipeOut(listener net.Listener, st *store.Store) error {
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(conn, pipeBuffer)
	err = st.View(func(r *store.Reader) error {
		var failed error
		err := r.Range(memorySection, "", func(k merge.Key, held []store.Held) bool {
			var wire []byte
			if wire, failed = r.Wire(k, held[len(held)-1]); failed != nil {
				return false
			}
			_, failed = w.Write(append(binary.AppendUvarint(nil, uint64(len(wire))), wire...))
			return failed == nil
		})
		return errors.Join(failed, err)
	})
	return errors.Join(err, w.Flush(), conn.Close())
}

// pipeIn stores what comes and returns how many records that were.
func pipeIn(conn net.Conn, end pipeEnd) (n int, err error) {
	r := bufio.NewReaderSize(conn, pipeBuffer)
	verifier := fleet.NewVerifier(rand.Reader)
	for ended := false; !ended; {
		var wires [][]byte
		var records []*merge.Record
		for len(records) < pipeTxn && !ended {
			wire, err := pipeRecord(r)
			if errors.Is(err, io.EOF) {
				ended = true
				continue
			}
			if err != nil {
				return n, err
			}
			rec, err := merge.Decode(wire)
			if err != nil {
				return n, err
			}
			wires, records = append(wires, wire), append(records, &rec)
		}
		if err := allSigned(verifier, records); err != nil {
			return n, err
		}
		if err := end(records, wires); err != nil {
			return n, err
		}
		n += len(records)
	}
	return n, nil
}

func pipeRecord(r *bufio.Reader) ([]byte, error) {
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	wire := make([]byte, size)
	_, err = io.ReadFull(r, wire)
	return wire, err
}

func allSigned(verifier fleet.Verifier, records []*merge.Record) error {
	for from := 0; from < len(records); from += signaturesMax {
		for _, ok := range verifier.Verify(records[from:min(from+signaturesMax, len(records))]) {
			if !ok {
				return errors.New("a signature of our own is bad")
			}
		}
	}
	return nil
}

// pipeStore stores in one transaction what is not there yet.
func pipeStore(db *badger.DB, records []*merge.Record, wires [][]byte) error {
	txn := db.NewTransaction(true)
	defer txn.Discard()
	for i, rec := range records {
		key := []byte(rec.Key.Order())
		if _, err := txn.Get(key); !errors.Is(err, badger.ErrKeyNotFound) {
			return errors.Join(errors.New("a record came twice"), err)
		}
		if err := txn.Set(key, wires[i]); err != nil {
			return err
		}
	}
	return txn.Commit()
}
