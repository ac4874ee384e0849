package definitions

import (
	"bytes"
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// Memory keeps definitions as long as the process lives. It is for tests, and for brokers that keep nothing. Its
// methods simulate the faults of a disk.
type Memory struct {
	line *line

	mu    sync.Mutex
	tree  *iradix.Tree[[]byte] // by table and key
	last  uint64               // revision
	fault error
	hold  chan struct{} // closed when held changes may continue; nil if none are held
}

var _ Store = (*Memory)(nil)

// NewMemory returns a Memory without definitions.
func NewMemory() *Memory {
	m := &Memory{tree: iradix.New[[]byte]()}
	m.line = newLine(m.store)
	return m
}

// Reopen simulates a restart: it closes m and returns a new Memory with the same definitions.
func (m *Memory) Reopen() *Memory {
	_ = m.Close()
	next := NewMemory()
	next.tree, next.last = m.tree, m.last
	return next
}

// Fail makes all later changes fail with err; nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = err
}

// Hold makes changes wait until release is called, like a slow disk.
func (m *Memory) Hold() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := make(chan struct{})
	m.hold = held
	return sync.OnceFunc(func() { close(held) })
}

// Apply implements Store.
func (m *Memory) Apply(c Change, done func(uint64, error)) { m.line.add(c, done) }

// Load implements Store.
func (m *Memory) Load() (*Definitions, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return load(&memoryTables{m.tree.Txn()})
}

// Revision implements Store.
func (m *Memory) Revision() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Close implements Store.
func (m *Memory) Close() error {
	m.line.close()
	return nil
}

func (m *Memory) store(group []*step) {
	m.mu.Lock()
	held := m.hold
	m.mu.Unlock()
	if held != nil {
		<-held
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	txn := m.tree.Txn()
	revision, err := makeGroup(&memoryTables{txn}, group)
	if err == nil {
		err = m.fault
	}
	if err != nil {
		failGroup(group, err)
		return
	}
	m.tree, m.last = txn.Commit(), revision
}

// failGroup fails all steps of a group, of which nothing is stored.
func failGroup(group []*step, err error) {
	for _, s := range group {
		if s.err == nil {
			s.err = err
		}
	}
}

type memoryTables struct{ txn *iradix.Txn[[]byte] }

// where returns the place of a line in the tree.
func where(in table, key []byte) []byte { return append(join(string(in)), key...) }

func (t *memoryTables) get(in table, key []byte) []byte {
	record, _ := t.txn.Get(where(in, key))
	return record
}

func (t *memoryTables) put(in table, key, record []byte) error {
	t.txn.Insert(where(in, key), bytes.Clone(record))
	return nil
}

func (t *memoryTables) remove(in table, key []byte) error {
	t.txn.Delete(where(in, key))
	return nil
}

func (t *memoryTables) each(in table, prefix []byte, f func(key, record []byte) error) (err error) {
	head := len(where(in, nil))
	t.txn.Root().WalkPrefix(where(in, prefix), func(place, record []byte) bool {
		err = f(place[head:], record)
		return err != nil
	})
	return err
}
