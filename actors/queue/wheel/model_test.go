package wheel

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"
)

// entries is the simplest Store.
type entries struct {
	links     []Links
	deadlines []int64
}

func newEntries(n int) *entries {
	return &entries{links: make([]Links, n+1), deadlines: make([]int64, n+1)}
}

func (e *entries) Links(h uint32) *Links   { return &e.links[h] }
func (e *entries) Deadline(h uint32) int64 { return e.deadlines[h] }

// model checks a wheel against a map from handle to order of Add.
type model struct {
	t       *testing.T
	entries *entries
	wheel   Wheel[*entries]
	added   map[uint32]int
	clock   int
	now     int64
	rng     *rand.Rand
}

func newModel(t *testing.T, handles int, now int64, rng *rand.Rand) *model {
	e := newEntries(handles)
	m := &model{t: t, entries: e, wheel: New(e), added: map[uint32]int{}, now: now, rng: rng}
	m.wheel.maxList = 20
	m.advance(0, 1)
	return m
}

func (m *model) add(h uint32, deadline int64) {
	if _, on := m.added[h]; !on {
		m.entries.deadlines[h] = deadline
		if deadline != Never {
			m.clock++
			m.added[h] = m.clock
		}
	}
	m.wheel.Add(h)
}

func (m *model) remove(h uint32) {
	delete(m.added, h)
	m.wheel.Remove(h)
}

// fired checks one firing: not early, on the wheel, first of its deadline; at random it changes the wheel in the callback.
func (m *model) fired(h uint32) {
	order, on := m.added[h]
	deadline := m.entries.deadlines[h]
	if !on {
		m.t.Fatalf("fired %d, which is not on the wheel", h)
	}
	if deadline > m.now {
		m.t.Fatalf("fired %d at %d, %d ms early", h, m.now, deadline-m.now)
	}
	for other, o := range m.added {
		if m.entries.deadlines[other] == deadline && o < order {
			m.t.Fatalf("fired %d before %d, which was added earlier with the same deadline %d", h, other, deadline)
		}
	}
	delete(m.added, h)
	if m.rng == nil || m.rng.IntN(4) > 0 {
		return
	}
	other := uint32(m.rng.IntN(len(m.entries.links)-1)) + 1
	if m.rng.IntN(2) == 0 {
		m.remove(other)
	} else {
		m.add(other, m.now+1+m.rng.Int64N(100))
	}
}

// advance moves the time by step and lets the wheel do at most limit units of work.
func (m *model) advance(step int64, limit int) {
	m.now += step
	before := len(m.added)
	fired := 0
	more := m.wheel.Advance(m.now, limit, func(h uint32) { fired++; m.fired(h) })
	if fired > limit {
		m.t.Fatalf("%d entries handled, limit %d", fired, limit)
	}
	if more && before == 0 {
		m.t.Fatal("more work claimed by an empty wheel")
	}
	if !more {
		for h := range m.added {
			if d := m.entries.deadlines[h]; d <= m.now {
				m.t.Fatalf("%d is %d ms late at %d", h, m.now-d, m.now)
			}
		}
	}
	m.check()
}

// check compares the results of queries.
func (m *model) check() {
	if m.wheel.Len() != len(m.added) {
		m.t.Fatalf("Len %d, want %d", m.wheel.Len(), len(m.added))
	}
	next, ok := m.wheel.Next()
	if ok != (len(m.added) > 0) {
		m.t.Fatalf("Next ok=%v with %d entries", ok, len(m.added))
	}
	for h := range m.added {
		if d := m.entries.deadlines[h]; next > max(d, m.now) {
			m.t.Fatalf("Next %d is later than the deadline %d of %d, now %d", next, d, h, m.now)
		}
	}
}

// ask compares the queries about deadlines at the current time.
func (m *model) ask() {
	var all []int64
	for h := range m.added {
		all = append(all, m.entries.deadlines[h])
	}
	slices.Sort(all)
	until := func(ms int64) int { return sort.Search(len(all), func(i int) bool { return all[i] > ms }) }
	for _, ms := range []int64{0, 1, 63, 64, 100, 1000, 4096, 60_000, 3_600_000, 86_400_000, 1 << 40} {
		if got, want := m.wheel.Until(m.now+ms), until(m.now+ms); got != want {
			m.t.Fatalf("%d due within %d ms, want %d", got, ms, want)
		}
	}
	if earliest, ok := m.wheel.Earliest(); ok != (len(all) > 0) || ok && earliest != all[0] && earliest > m.now {
		m.t.Fatalf("earliest %d, %v", earliest, ok)
	}
	var listed []int64
	for at := int64(0); ; {
		list, ok := m.wheel.From(at)
		if !ok {
			break
		}
		before := len(listed)
		for h := m.entries.links[list.Tail].Next; ; h = m.entries.links[h].Next {
			d := m.entries.deadlines[h]
			if d > list.Last || d < list.First && d > m.now {
				m.t.Fatalf("%d is in the list of %d to %d", d, list.First, list.Last)
			}
			if listed = append(listed, d); h == list.Tail {
				break
			}
		}
		if n := len(listed) - before; n > int(m.wheel.maxList) && list.First != list.Last {
			m.t.Fatalf("a list of %d entries", n)
		}
		slices.Sort(listed[before:])
		at = list.Last + 1
	}
	if len(listed) != len(all) || !slices.IsSorted(listed[until(m.now):]) {
		m.t.Fatalf("%d of %d listed, or not in order", len(listed), len(all))
	}
}

func seed(t *testing.T) uint64 {
	s := uint64(time.Now().UnixNano())
	if v := os.Getenv("WHEEL_SEED"); v != "" {
		s, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("WHEEL_SEED=%d", s)
	return s
}

func TestModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed(t), 1))
	for range 150 {
		m := newModel(t, 1+rng.IntN(60), 1_800_000_000_000+rng.Int64N(1<<30), rng)
		for range 400 {
			h := uint32(rng.IntN(len(m.entries.links)-1)) + 1
			switch rng.IntN(10) {
			case 0, 1, 2:
				m.add(h, m.now-20+rng.Int64N(1<<(5+rng.IntN(36))))
			case 3, 4:
				m.add(h, m.now&^1023+4096) // many with the same deadline
			case 5:
				m.add(h, []int64{Never, Never - 1, 0, m.now, m.now + 315_360_000_000}[rng.IntN(5)])
			case 6:
				m.remove(h)
			case 7:
				m.advance(rng.Int64N(1<<(1+rng.IntN(40))), 1<<30)
			default:
				m.advance(rng.Int64N(1<<(1+rng.IntN(14))), rng.IntN(8))
			}
			m.ask()
		}
	}
}

// TestModelOfMany splits lists many times, and advances over them.
func TestModelOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed(t), 2))
	for range 10 {
		m := newModel(t, 1000, 1_800_000_000_000+rng.Int64N(1<<45), rng)
		width := int64(1) << (4 + rng.IntN(36))
		for range 40 {
			near := m.now + rng.Int64N(width)
			for range 150 {
				h := uint32(rng.IntN(len(m.entries.links)-1)) + 1
				switch rng.IntN(4) {
				case 0:
					m.remove(h)
				case 1:
					m.add(h, near)
				case 2:
					m.add(h, near+rng.Int64N(100))
				default:
					m.add(h, m.now+rng.Int64N(width))
				}
			}
			m.ask()
			m.advance(rng.Int64N(width/4), rng.IntN(400))
			m.ask()
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{0, 1, 10, 0, 2, 10, 3, 0, 9, 3, 0, 12})
	f.Add([]byte{1, 1, 20, 0, 2, 200, 4, 3, 9, 2, 1, 0, 3, 0, 255})
	f.Fuzz(func(t *testing.T, script []byte) {
		m := newModel(t, 16, 1_800_000_000_000, nil)
		for ; len(script) >= 3; script = script[3:] {
			h, value := uint32(script[1]%16)+1, int64(binary.BigEndian.Uint16(script[1:]))
			switch script[0] % 6 {
			case 0:
				m.add(h, m.now+value%256)
			case 1:
				m.add(h, m.now+value<<(value%44))
			case 2:
				m.remove(h)
			case 3:
				m.advance(value%256, 1<<30)
			case 4:
				m.advance(value, int(value%5))
			case 5:
				m.advance(value<<(value%24), 1<<30)
			}
		}
	})
}
