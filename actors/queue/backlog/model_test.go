package backlog

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"candlemark/internal/routing/message"
)

// naive is one message of the model; position is its order within its priority.
type naive struct {
	record   Record
	position int
	handle   Handle
	ready    bool
	place    uint64 // in the journal, 0 if the content is in memory
}

// model does the same as Backlog with a sorted list.
type model struct {
	t        *testing.T
	backlog  Backlog
	messages []*naive // in queue order: priority descending, then position
	views    []view
	pushed   int
}

// view is a result of Get with a copy.
type view struct{ got, want []byte }

func (m *model) push(r Record) {
	m.pushed++
	n := &naive{record: r, position: m.pushed, ready: true}
	given := clone(r)
	n.handle = m.backlog.Push(&given)
	if !r.Shared { // Push has copied the slices, so the caller may overwrite them
		for _, s := range [][]byte{given.Exchange, given.RoutingKey, given.Header, given.Body} {
			clear(s)
		}
	}
	at, _ := slices.BinarySearchFunc(m.messages, n, func(a, b *naive) int {
		if p := int(b.record.Priority) - int(a.record.Priority); p != 0 {
			return p
		}
		return a.position - b.position
	})
	m.messages = slices.Insert(m.messages, at, n)
}

func (m *model) remove(n *naive) {
	m.backlog.Remove(n.handle)
	m.messages = slices.DeleteFunc(m.messages, func(o *naive) bool { return o == n })
}

// page moves the content of n out of memory, or back in.
func (m *model) page(n *naive, place uint64) {
	if n.place != 0 {
		r := clone(n.record)
		r.Enqueued, r.TTL = 0, 0
		m.backlog.PageIn(n.handle, &r)
		n.place = 0
		return
	}
	n.place = place + 1
	m.backlog.SetPlace(n.handle, n.place)
	m.backlog.PageOut(n.handle)
}

func (m *model) flip(n *naive) {
	if n.ready {
		m.backlog.Take(n.handle)
	} else {
		m.backlog.Return(n.handle)
	}
	n.ready = !n.ready
}

// first returns the first ready message of the model.
func (m *model) first() *naive {
	for _, n := range m.messages {
		if n.ready {
			return n
		}
	}
	return nil
}

// checkFirst compares values whose comparison is cheap.
func (m *model) checkFirst() {
	m.t.Helper()
	h, ok := m.backlog.First()
	if want := m.first(); want == nil && ok || want != nil && h != want.handle {
		m.t.Fatalf("First %d, %v; want %+v", h, ok, want)
	}
	if m.backlog.Len() != len(m.messages) {
		m.t.Fatalf("Len %d, want %d", m.backlog.Len(), len(m.messages))
	}
}

// checkAll compares all values.
func (m *model) checkAll() {
	m.t.Helper()
	var ready []Handle
	var readyBytes, total int64
	for _, n := range m.messages {
		total += int64(len(n.record.Body))
		if n.ready {
			ready = append(ready, n.handle)
			readyBytes += int64(len(n.record.Body))
		}
		if m.backlog.IsReady(n.handle) != n.ready {
			m.t.Fatalf("IsReady %v, want %v", !n.ready, n.ready)
		}
		if size := m.backlog.Size(n.handle); size != int64(len(n.record.Body)) {
			m.t.Fatalf("Size %d, want %d", size, len(n.record.Body))
		}
		if paged := m.backlog.IsPaged(n.handle); paged != (n.place != 0) {
			m.t.Fatalf("paged out: %v, want %v", paged, !paged)
		} else if paged {
			enqueued, ttl := m.backlog.Times(n.handle)
			if enqueued != n.record.Enqueued || ttl != n.record.TTL || m.backlog.Place(n.handle) != n.place {
				m.t.Fatalf("paged out: %d %d at %d, want %+v", enqueued, ttl, m.backlog.Place(n.handle), n)
			}
			continue
		}
		var got Record
		m.backlog.Get(n.handle, &got)
		m.views = append(m.views, view{got.Body, bytes.Clone(got.Body)})
		got.Shared = n.record.Shared
		if !reflect.DeepEqual(normal(got), normal(n.record)) {
			m.t.Fatalf("Get\n%+v, want\n%+v", got, n.record)
		}
	}
	var walked []Handle
	for h := range m.backlog.Walk {
		walked = append(walked, h)
	}
	if !slices.Equal(walked, ready) {
		m.t.Fatalf("Walk %v, want %v", walked, ready)
	}
	if m.backlog.Ready() != len(ready) || m.backlog.ReadyBytes() != readyBytes || m.backlog.Bytes() != total {
		m.t.Fatalf("ready %d, %d bytes of %d; want %d, %d of %d", m.backlog.Ready(), m.backlog.ReadyBytes(), m.backlog.Bytes(), len(ready), readyBytes, total)
	}
	m.checkAges()
	m.checkPaged()
	for _, v := range m.views {
		if !bytes.Equal(v.got, v.want) {
			m.t.Fatal("a view has changed")
		}
	}
	if extra := len(m.views) - 500; extra > 0 {
		m.views = m.views[extra:]
	}
}

// checkAges compares the times of the oldest messages.
func (m *model) checkAges() {
	m.t.Helper()
	var ready, held int64
	readyOf, heldOf := map[uint8]bool{}, map[uint8]bool{} // the first message of the priority was seen
	for _, n := range m.messages {
		enqueued, priority := n.record.Enqueued, n.record.Priority
		if Enqueued(&m.backlog, n.handle) != enqueued {
			m.t.Fatalf("Enqueued %d, want %d", Enqueued(&m.backlog, n.handle), enqueued)
		}
		if n.ready && !readyOf[priority] {
			readyOf[priority], ready = true, earlier(ready, enqueued)
		}
		if !heldOf[priority] {
			heldOf[priority], held = true, earlier(held, enqueued)
		}
	}
	held = earlier(held, ready)
	if r, h := OldestReady(&m.backlog), OldestHeld(&m.backlog); r != ready || h != held {
		m.t.Fatalf("oldest ready at %d, held at %d; want %d, %d", r, h, ready, held)
	}
}

// checkPaged compares the numbers of messages in memory and paged out.
func (m *model) checkPaged() {
	m.t.Helper()
	b := &m.backlog
	var absent, resident, outside []Handle
	var bytes int64
	w := b.Window(b.ReadyBytes() / 3)
	for _, n := range m.messages {
		switch {
		case n.place == 0:
			if resident = append(resident, n.handle); !b.Within(n.handle, w) {
				outside = append(outside, n.handle)
			}
			continue
		case n.ready:
			absent = append(absent, n.handle)
		}
		bytes += int64(len(n.record.Body))
	}
	if b.Paged() != len(m.messages)-len(resident) || b.PagedBytes() != bytes {
		m.t.Fatalf("%d paged out with %d bytes, want %d with %d", b.Paged(), b.PagedBytes(), len(m.messages)-len(resident), bytes)
	}
	var ahead []Handle
	b.Ahead(1<<60, func(h Handle) bool { ahead = append(ahead, h); return true })
	if !slices.Equal(ahead, absent) {
		m.t.Fatalf("Ahead %v, want %v", ahead, absent)
	}
	for _, x := range []struct {
		w    Window
		want []Handle
	}{{Window{priority: 256}, resident}, {w, outside}} {
		var got []Handle
		for at := Handle(1); at != 0; {
			at = b.Trim(at, 100, x.w, func(h Handle) bool { got = append(got, h); return true })
		}
		slices.Sort(x.want)
		if slices.Sort(got); !slices.Equal(got, x.want) {
			m.t.Fatalf("Trim %v, want %v", got, x.want)
		}
	}
}

// clone copies the slices of r.
func clone(r Record) Record {
	r.Exchange, r.RoutingKey = bytes.Clone(r.Exchange), bytes.Clone(r.RoutingKey)
	r.Header, r.Body = bytes.Clone(r.Header), bytes.Clone(r.Body)
	return r
}

// normal replaces nil slices by empty ones.
func normal(r Record) Record {
	for _, s := range []*[]byte{&r.Exchange, &r.RoutingKey, &r.Header, &r.Body} {
		*s = append([]byte{}, *s...)
	}
	r.Share = nil
	return r
}

func randomRecord(rng *rand.Rand, priorities int) Record {
	size := rng.IntN(100)
	switch rng.IntN(20) {
	case 0:
		size = rng.IntN(3000)
	case 1:
		size = maxRecord - 20 + rng.IntN(40)
	case 2:
		size = rng.IntN(30_000)
	}
	r := Record{
		Exchange:   bytes.Repeat([]byte{'e'}, rng.IntN(256)*rng.IntN(2)),
		RoutingKey: bytes.Repeat([]byte{'k'}, rng.IntN(20)),
		Header:     bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(200)),
		Body:       bytes.Repeat([]byte{byte(rng.Uint32())}, size),
		Deadline:   []int64{math.MaxInt64, rng.Int64N(1 << 42)}[rng.IntN(2)],
		TTL:        []int64{NoTTL, 0, rng.Int64N(315_360_000_000), maxTTL}[rng.IntN(4)],
		Enqueued:   rng.Int64N(1 << 42),
		Seq:        rng.Uint64(),
		Priority:   uint8(rng.IntN(priorities)),

		Returns:     message.Returns(rng.Uint32N(5)),
		Redelivered: rng.IntN(2) == 0, Stored: rng.IntN(2) == 0,
		Shared: rng.IntN(4) == 0,
	}
	if rng.IntN(8) == 0 {
		r.Overlay = &message.Overlay{}
	}
	return r
}

func seed(t *testing.T) uint64 {
	s := uint64(time.Now().UnixNano())
	if v := os.Getenv("BACKLOG_SEED"); v != "" {
		s, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("BACKLOG_SEED=%d", s)
	return s
}

// run drives a model through phases in which pushes or removals prevail, and empties it at the end.
func run(t *testing.T, rng *rand.Rand, priorities, steps int) {
	m := &model{t: t}
	for i := 0; i < steps; i++ {
		growing := i/500%2 == 0
		if len(m.messages) == 0 || rng.IntN(10) < 4 && (growing || rng.IntN(3) == 0) {
			m.push(randomRecord(rng, priorities))
			continue
		}
		n := m.messages[rng.IntN(len(m.messages))]
		if first := m.first(); first != nil && rng.IntN(3) > 0 {
			n = first
		}
		switch k := rng.IntN(10); {
		case k < 5:
			m.flip(n)
		case k < 6:
			e := m.backlog.Entry(n.handle)
			e.Redelivered, n.record.Redelivered = true, true
			e.Deadline, n.record.Deadline = int64(i), int64(i)
		case k < 7 && n.place == 0:
			n.record.Overlay = []*message.Overlay{nil, {}}[rng.IntN(2)]
			m.backlog.SetOverlay(n.handle, n.record.Overlay)
		case k < 8:
			m.page(n, rng.Uint64N(1<<60))
		case k == 8 && growing:
		default:
			m.remove(n)
		}
		m.checkFirst()
		if i%197 == 0 {
			m.checkAll()
		}
	}
	for len(m.messages) > 0 {
		m.remove(m.messages[rng.IntN(len(m.messages))])
		m.checkFirst()
	}
	m.checkAll()
	if mem := m.backlog.Memory(); mem > 200_000 {
		t.Errorf("an empty backlog holds %d bytes", mem)
	}
	if n := m.backlog.Contents(); n != 0 {
		t.Errorf("an empty backlog has contents of %d bytes", n)
	}
}

func TestModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed(t), 1))
	for range 4 {
		run(t, rng, 1, 5000)
		run(t, rng, 4, 5000)
		run(t, rng, 256, 5000)
	}
}
