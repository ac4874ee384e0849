package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
)

// ErrCrashed is the error of all operations between the crash and Crash, and for ever of files opened before it.
var ErrCrashed = errors.New("the machine crashed")

// Kind of an Operation.
type Kind uint8

// Kinds of operations that can be made to fail. All but Read change something and are numbered.
const (
	Read Kind = iota
	Create
	Write
	Sync
	Rename
	Remove
	MakeDir
	SyncDir
)

// Operation describes an operation before it happens.
type Operation struct {
	Kind Kind
	Name string
	// Number counts the changing operations since NewMemory, from 1.
	Number int
	// At and Length are the range read or written, in bytes.
	At     int64
	Length int
}

// Fault makes an operation fail.
type Fault struct {
	Err error
	// Written is the number of bytes that a failing Write still writes (a short write).
	Written int
}

// Memory is a file system that can crash.
type Memory struct {
	mu       sync.Mutex
	random   *rand.Rand
	names    map[string]*node // as they are
	durable  map[string]*node // as SyncDir left them
	changes  []change         // of names, not yet durable
	epoch    int              // number of crashes
	number   int
	freezeAt int // number of the operation that crashes
	frozen   bool
	fault    func(Operation) *Fault
	capacity uint64
}

// change is a change of one name.
type change struct {
	kind     Kind // Create, Rename or Remove
	name, to string
	node     *node
}

// NewMemory returns an empty file system. The seed decides what a crash keeps.
func NewMemory(seed uint64) *Memory {
	return &Memory{
		random: rand.New(rand.NewPCG(seed, 0)), names: map[string]*node{}, durable: map[string]*node{},
		freezeAt: math.MaxInt, capacity: math.MaxInt64,
	}
}

// Fail sets the function called before every operation; a Fault fails it. Nil sets none. It must not call m.
func (m *Memory) Fail(fault func(Operation) *Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = fault
}

// SetCapacity limits the total bytes of all files; beyond it operations fail with ErrFull.
func (m *Memory) SetCapacity(bytes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = bytes
}

// CrashAfter lets n more changing operations happen. The crash hits the next one: it and all later ones fail with
// ErrCrashed until Crash.
func (m *Memory) CrashAfter(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freezeAt = m.number + n + 1
}

// Crashed reports whether the crash has happened.
func (m *Memory) Crashed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frozen
}

// Operations returns the number of changing operations so far.
func (m *Memory) Operations() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.number
}

// Crash reduces the files to what a machine finds after a power failure. It ends the failures started by CrashAfter;
// open files stay unusable.
func (m *Memory) Crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.frozen, m.freezeAt = false, math.MaxInt
	m.settleNames()
	nodes := map[*node]bool{}
	for _, name := range slices.Sorted(maps.Keys(m.durable)) {
		for dir := filepath.Dir(name); !m.isRoot(dir); dir = filepath.Dir(dir) {
			if m.durable[dir] == nil {
				delete(m.durable, name)
				break
			}
		}
		if n := m.durable[name]; n != nil && !nodes[n] {
			nodes[n] = true
			n.crash(m.random)
		}
	}
	m.names = maps.Clone(m.durable)
}

// Kill reduces nothing: everything that was written is kept, as the kernel does when it ends a process. It ends the failures started by
// CrashAfter; open files stay unusable.
func (m *Memory) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.frozen, m.freezeAt = false, math.MaxInt
}

// settleNames decides which changes of names a crash keeps: none, all, the first ones, or any.
func (m *Memory) settleNames() {
	way, first := m.random.IntN(4), m.random.IntN(len(m.changes)+1)
	for i, c := range m.changes {
		if way == 1 || way == 2 && i < first || way == 3 && m.random.IntN(2) == 0 {
			m.keep(c)
		}
	}
	m.changes = nil
}

// keep makes a change durable, whether or not earlier ones were kept.
func (m *Memory) keep(c change) {
	if c.kind != Create && m.durable[c.name] == c.node {
		delete(m.durable, c.name)
	}
	if c.kind == Create {
		m.durable[c.name] = c.node
	}
	if c.kind == Rename {
		m.durable[c.to] = c.node
	}
}

// before is called before every operation, with the lock held.
func (m *Memory) before(o Operation) *Fault {
	if o.Kind != Read && !m.frozen {
		m.number++
		m.frozen = m.number >= m.freezeAt
		if m.frozen && o.Kind == Write {
			return &Fault{Err: ErrCrashed, Written: o.Length}
		}
	}
	if m.frozen {
		return &Fault{Err: ErrCrashed}
	}
	if m.fault == nil {
		return nil
	}
	o.Number = m.number
	return m.fault(o)
}

// room returns ErrFull if there is no room for so many more bytes.
func (m *Memory) room(bytes int64) error {
	if free := m.free(); bytes > 0 && uint64(bytes) > free {
		return fmt.Errorf("%w: %d bytes wanted, %d free", ErrFull, bytes, free)
	}
	return nil
}

func (m *Memory) free() uint64 {
	var used uint64
	for _, n := range m.names {
		used += uint64(n.size)
	}
	return m.capacity - min(used, m.capacity)
}

func (m *Memory) isRoot(dir string) bool { return dir == "." || dir == filepath.Dir(dir) }

// find returns the file or folder of a name.
func (m *Memory) find(do, name string, folder bool) (*node, error) {
	n := m.names[name]
	if n == nil && folder && m.isRoot(name) {
		return nil, nil
	}
	if n == nil || n.folder != folder {
		return nil, &fs.PathError{Op: do, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}
