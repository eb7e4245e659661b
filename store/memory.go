package store

import (
	"bytes"
	"sync"

	"github.com/tidwall/btree"
)

// Memory is an Engine in memory: a copy-on-write tree, so that a snapshot
// costs nothing and no goroutine is needed. What it does depends only on the
// calls that it gets.
type Memory struct {
	update sync.Mutex // serialises Update

	mu     sync.Mutex // guards all following fields
	tree   *memoryTree
	closed bool
}

type memoryTree = btree.Map[string, []byte]

// NewMemory returns an empty Engine that lives in memory. Its contents end
// with the process.
func NewMemory() *Memory { return &Memory{tree: btree.NewMap[string, []byte](0)} }

// Clone returns an open engine of its own that begins with what m holds now,
// also when m is closed: a disk after a restart, a backup, a copied machine.
// Neither sees what the other writes from then on.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{tree: m.tree.Copy()}
}

// snapshot returns the tree as it is now; copies share what neither changes.
func (m *Memory) snapshot() (*memoryTree, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	return m.tree.Copy(), nil
}

// View implements Engine.
func (m *Memory) View(fn func(tx Txn) error) error {
	tree, err := m.snapshot()
	if err != nil {
		return err
	}
	return fn(&memoryTxn{tree: tree})
}

// Update implements Engine.
func (m *Memory) Update(fn func(tx Txn) error) error {
	m.update.Lock()
	defer m.update.Unlock()
	tree, err := m.snapshot()
	if err != nil {
		return err
	}
	if err := fn(&memoryTxn{tree: tree, writable: true}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.tree = tree
	return nil
}

// Close implements Engine.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

type memoryTxn struct {
	tree     *memoryTree
	writable bool
}

// Get implements Txn.
func (t *memoryTxn) Get(key []byte) ([]byte, error) {
	value, ok := t.tree.Get(string(key))
	if !ok {
		return nil, ErrNotFound
	}
	return value, nil
}

// Set implements Txn.
func (t *memoryTxn) Set(key, value []byte) error {
	if !t.writable {
		return ErrReadOnly
	}
	t.tree.Set(string(key), bytes.Clone(value))
	return nil
}

// Delete implements Txn.
func (t *memoryTxn) Delete(key []byte) error {
	if !t.writable {
		return ErrReadOnly
	}
	t.tree.Delete(string(key))
	return nil
}

// Scan implements Txn.
func (t *memoryTxn) Scan(from, to []byte, reverse bool, fn func(key, value []byte) (more bool, err error)) error {
	var failed error
	lower, upper := string(from), string(to)
	visit := func(key string, value []byte) bool {
		more, err := fn([]byte(key), value)
		failed = err
		return more && err == nil
	}
	switch {
	case !reverse:
		t.tree.Ascend(lower, func(key string, value []byte) bool {
			return (to == nil || key < upper) && visit(key, value)
		})
	case to == nil:
		t.tree.Reverse(func(key string, value []byte) bool {
			return key >= lower && visit(key, value)
		})
	default:
		t.tree.Descend(upper, func(key string, value []byte) bool {
			return key == upper || key >= lower && visit(key, value)
		})
	}
	return failed
}
