package backlog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"candlemark/actors/queue/wheel"
)

// small returns a message with a body of 16 bytes, as sent by a client.
func small() *Record {
	return &Record{
		RoutingKey: []byte("orders"), Header: []byte{0x10, 0, 2}, Body: []byte("0123456789abcdef"),
		Deadline: math.MaxInt64, TTL: NoTTL, Enqueued: 1_800_000_000_000,
	}
}

// contentSize returns the size of the content as sent.
func contentSize(r *Record) int64 {
	return int64(len(r.Exchange) + len(r.RoutingKey) + len(r.Header) + len(r.Body))
}

// takeAll takes the ready messages in order and returns their Seqs.
func takeAll(b *Backlog) []uint64 {
	var seqs []uint64
	for h, ok := b.First(); ok; h, ok = b.First() {
		seqs = append(seqs, b.Entry(h).Seq)
		b.Take(h)
	}
	return seqs
}

func TestOrder(t *testing.T) {
	const n = 300
	tests := []struct {
		name     string
		priority func(i int) uint8
		returned func() []int // order in which the messages are returned
	}{
		{"TTL-16 return in order", nil, func() []int { return ascending(n) }},
		{"TTL-16 return backwards", nil, func() []int { s := ascending(n); slices.Reverse(s); return s }},
		{"TTL-16 return at random", nil, func() []int { return rand.Perm(n) }},
		{"priorities", func(i int) uint8 { return uint8(i * 37) }, func() []int { return rand.Perm(n) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b Backlog
			var handles []Handle
			want := make([]uint64, n)
			priority := make([]int, n)
			for i := range n {
				r := small()
				r.Seq = uint64(i)
				if tt.priority != nil {
					r.Priority = tt.priority(i)
				}
				want[i], priority[i] = r.Seq, int(r.Priority)
				handles = append(handles, b.Push(r))
			}
			slices.SortStableFunc(want, func(x, y uint64) int { return priority[y] - priority[x] })
			if got := takeAll(&b); !slices.Equal(got, want) {
				t.Fatalf("took %v, want %v", got, want)
			}
			for _, i := range tt.returned() {
				b.Return(handles[i])
			}
			if got := takeAll(&b); !slices.Equal(got, want) {
				t.Fatalf("took %v after return, want %v", got, want)
			}
		})
	}
}

func ascending(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestWalkMayTakeAndRemove(t *testing.T) {
	var b Backlog
	for i := range 200 {
		r := small()
		r.Seq, r.Priority = uint64(i), uint8(i%3)
		b.Push(r)
	}
	seen := 0
	for h := range b.Walk {
		seen++
		if b.Entry(h).Seq%2 == 0 {
			b.Take(h)
		}
		b.Remove(h)
	}
	if seen != 200 || b.Len() != 0 {
		t.Errorf("saw %d, left %d", seen, b.Len())
	}
}

func TestMisuse(t *testing.T) {
	tests := []struct {
		name string
		do   func(b *Backlog, ready, taken Handle)
	}{
		{"take a taken one", func(b *Backlog, _, taken Handle) { b.Take(taken) }},
		{"return a ready one", func(b *Backlog, ready, _ Handle) { b.Return(ready) }},
		{"remove twice", func(b *Backlog, ready, _ Handle) { b.Remove(ready); b.Remove(ready) }},
		{"take nothing", func(b *Backlog, _, _ Handle) { b.Take(0) }},
		{"remove from under the wheel", func(b *Backlog, ready, _ Handle) {
			b.Entry(ready).Deadline = 5
			w := wheel.New(b)
			w.Add(ready)
			b.Remove(ready)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b Backlog
			ready, taken := b.Push(small()), b.Push(small())
			b.Take(taken)
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			tt.do(&b, ready, taken)
		})
	}
}

func TestBytesPerMessage(t *testing.T) {
	for n, bound := range map[int]float64{100: 150, 1_000: 100, 100_000: 75} {
		var b Backlog
		var content int64
		for range n {
			r := small()
			content += contentSize(r)
			b.Push(r)
		}
		overhead := float64(b.Memory()-content) / float64(n)
		t.Logf("%d messages: %.1f B each above content", n, overhead)
		if overhead > bound {
			t.Errorf("%d messages: %.1f B each above content", n, overhead)
		}
	}
}

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(Entry{}); n != 48 {
		t.Errorf("an entry has %d bytes", n)
	}
	if n := unsafe.Sizeof(Backlog{}); n > 272 {
		t.Errorf("an empty backlog has %d bytes", n)
	}
	var b Backlog
	b.Push(small())
	if n := b.Memory(); n > 2_000 {
		t.Errorf("a backlog of one small message holds %d bytes", n)
	}
}

// TestOldMessageAtHead passes a million messages behind one that stays.
func TestOldMessageAtHead(t *testing.T) {
	var b Backlog
	old := b.Push(small())
	b.Take(old)
	var waiting []Handle
	for i := range 1_000_000 {
		waiting = append(waiting, b.Push(small()))
		if len(waiting) == 1000 {
			for _, h := range waiting[:1000-i/1000%10] {
				b.Take(h)
				b.Remove(h)
			}
			waiting = append(waiting[:0], waiting[1000-i/1000%10:]...)
		}
	}
	if n := b.Memory(); n > 1<<20 {
		t.Errorf("%d messages hold %d bytes", b.Len(), n)
	}
	for _, h := range waiting {
		b.Remove(h)
	}
	b.Return(old)
	if h, _ := b.First(); h != old || string(got(&b, h).Body) != string(small().Body) {
		t.Error("the old message is not what it was")
	}
	if n := b.Memory(); n > 32<<10 {
		t.Errorf("one message left holds %d bytes", n)
	}
}

// TestFewSurvivors leaves one message in a hundred: the contents left must not keep all blocks.
func TestFewSurvivors(t *testing.T) {
	var b Backlog
	var live int64
	body := make([]byte, 1000)
	want := map[Handle]string{}
	for i := range 200_000 {
		r := small()
		copy(body, fmt.Sprintf("%09d", i))
		r.Body = body
		h := b.Push(r)
		if i%100 == 0 {
			live += int64(recordSize(r))
			want[h] = string(body)
		}
	}
	for h := range b.Walk {
		if want[h] == "" {
			b.Remove(h)
		}
	}
	if b.slab.held > 5*live {
		t.Errorf("blocks hold %d bytes for %d live ones", b.slab.held, live)
	}
	for h, body := range want {
		if string(got(&b, h).Body) != body {
			t.Fatalf("message %d has changed", h)
		}
	}
}

func TestAllocations(t *testing.T) {
	var b Backlog
	r := small()
	ring := make([]Handle, 5_000)
	for i := range ring {
		ring[i] = b.Push(r)
	}
	allocs := testing.AllocsPerRun(20, func() {
		for i, h := range ring {
			b.Take(h)
			b.Remove(h)
			ring[i] = b.Push(r)
		}
	})
	// 5000 records fill 4 blocks of 64 KiB.
	if allocs > 50 {
		t.Errorf("%v allocations for %d messages", allocs, len(ring))
	}
}

// got returns the result of Get.
func got(b *Backlog, h Handle) (r Record) {
	b.Get(h, &r)
	return r
}
