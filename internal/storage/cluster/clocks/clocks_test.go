package clocks

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ms   = int64(time.Millisecond)
	sec  = int64(time.Second)
	hour = int64(time.Hour)
)

// machine is a computer whose clocks drift. True time t is in ns.
type machine struct {
	*Clocks
	ppm, origin, wallBy int64
	memory              Memory
	up                  int64 // since
}

func (m *machine) now(t int64) int64  { return m.origin + t + t/1_000_000*m.ppm }
func (m *machine) wall(t int64) int64 { return 1e18 + t + m.wallBy }

// world is three machines of which one leads.
type world struct {
	*testing.T
	nodes  []*machine
	leader int // -1: none
	term   uint64
	begun  int64 // own time of the leader when it began
	base   int64 // the cluster's time then
}

// cluster returns the cluster's time.
func (w *world) cluster(t int64) int64 { return w.base + w.nodes[w.leader].now(t) - w.begun }

// talk exchanges a heartbeat with each node; delays are at least 0.1 ms.
func (w *world) talk(t int64) {
	l := w.nodes[w.leader]
	for i, n := range w.nodes {
		if i != w.leader && n.up <= t {
			there, back := 100_000+rand.Int64N(20*ms), 100_000+rand.Int64N(20*ms)
			n.Heard(Stamp{Leads, w.term, w.cluster(t), l.wall(t)}, n.now(t+there))
			l.Answered(fmt.Sprint(i), n.Stamp(n.now(t+there), n.wall(t+there)), w.term, l.now(t), l.now(t+there+back))
		}
	}
	for i, n := range w.nodes {
		if n.up > t {
			continue
		}
		if i == w.leader {
			n.Led(w.term, n.now(t), w.cluster(t))
		}
		n.memory = n.Remember(n.now(t), n.wall(t))
	}
}

// elect makes a node the leader of the next term, and returns the cluster's time.
func (w *world) elect(i int, t int64) int64 {
	w.term++
	l, names := w.nodes[i], []string{"0", "1", "2"}
	if _, ok := l.Begin(w.term, names, l.now(t), l.wall(t)); ok {
		w.Fatal("begun alone")
	}
	for j, n := range w.nodes {
		if j != i && n.up <= t {
			l.Answered(fmt.Sprint(j), n.Stamp(n.now(t), n.wall(t)), w.term, l.now(t), l.now(t))
		}
	}
	base, ok := l.Begin(w.term, names, l.now(t), l.wall(t))
	if !ok {
		w.Fatal("too few nodes")
	}
	w.leader, w.base, w.begun = i, base, l.now(t)
	l.Led(w.term, l.now(t), base)
	return base
}

// TestFailovers_CLU9: a day with a failover each minute, sometimes an end of all nodes, clocks that drift by 500 ppm and wall clocks an hour
// apart: the cluster's time never gets ahead of what the last leader's clock would show, and falls behind by little.
func TestFailovers_CLU9(t *testing.T) {
	w := &world{T: t, leader: -1}
	for i, ppm := range []int64{500, -500, 0} {
		w.nodes = append(w.nodes, &machine{Clocks: New(Memory{}), ppm: ppm, origin: int64(i) * 1e15, wallBy: int64(i-1) * hour})
	}
	if at := w.elect(0, 0); at != w.nodes[1].wall(0) {
		t.Errorf("it begins at %d, not with the median of the clocks", at)
	}
	late := int64(0)
	for now, next := int64(0), 60*sec; now < 24*hour; now += 100 * ms {
		if now < next {
			w.talk(now)
			continue
		}
		died, was, old := now, w.cluster(now), w.leader
		now += sec + rand.Int64N(2*sec)
		ended, bound := []int{old}, 25*ms
		if rand.IntN(10) == 0 { // all nodes end
			now += rand.Int64N(10 * 60 * sec)
			ended, bound = []int{0, 1, 2}, 25*ms+sec
		}
		for _, i := range ended {
			n := w.nodes[i]
			n.Clocks = New(n.memory)
			n.up = now
		}
		next = now + 60*sec
		is := w.elect((old+1+rand.IntN(2))%3, now)
		past := now - died
		if early := is - was - past - past/2000; early > 0 {
			t.Fatalf("%v after the start: early by %v", time.Duration(now), time.Duration(early))
		}
		late = max(late, was+past-is)
		if was+past-past/500-is > bound {
			t.Fatalf("%v after the start: late by %v", time.Duration(now), time.Duration(was+past-is))
		}
	}
	t.Logf("late by at most %v", time.Duration(late))
}

// TestTermOfTime_CLU9: what was heard of an earlier leader counts only if nobody knows a later one, and then the earliest does.
func TestTermOfTime_CLU9(t *testing.T) {
	for name, row := range map[string]struct {
		said []Stamp
		want int64
	}{
		"nothing":        {[]Stamp{{}, {Wall: 9}}, 0},
		"the later term": {[]Stamp{{Kind: Follows, Term: 5, Time: 70}, {Kind: Follows, Term: 6, Time: 60}, {Kind: Follows, Term: 6, Time: 50}}, 60},
		"heard":          {[]Stamp{{Kind: Remembers, Term: 6, Time: 70}, {Kind: Follows, Term: 6, Time: 60}}, 60},
		"restarted":      {[]Stamp{{Kind: Remembers, Term: 6, Time: 70}, {Kind: Follows, Term: 5, Time: 60}, {}}, 60},
		"all restarted":  {[]Stamp{{Kind: Remembers, Term: 6, Time: 70}, {Kind: Remembers, Term: 6, Time: 65}}, 65},
	} {
		if got := best(row.said); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
	c := New(Memory{})
	c.Heard(Stamp{Leads, 7, 1000 * sec, 0}, 10*sec)
	c.Heard(Stamp{Leads, 6, 2000 * sec, 0}, 11*sec) // it has not noticed yet that it was replaced
	c.Heard(Stamp{Follows, 8, 2000 * sec, 0}, 11*sec)
	if s := c.Stamp(11*sec, 0); s.Term != 7 || s.Time != 1001*sec-sec/drift {
		t.Errorf("%+v", s)
	}
	c.Least(5000 * sec)
	c.Answered("b", Stamp{Wall: 1}, 9, 0, 0)
	if at, ok := c.Begin(9, []string{"a", "b", "c"}, 11*sec, 0); !ok || at != 5000*sec {
		t.Errorf("it begins at %d, before a time of an entry", at)
	}
	if _, ok := c.Begin(10, []string{"a", "b", "c"}, 11*sec, 0); ok {
		t.Error("an answer of another term counts")
	}
	if _, ok := c.Begin(9, []string{"a", "c", "d"}, 11*sec, 0); ok {
		t.Error("an answer of a node that does not vote counts")
	}
}

// TestDates_CLU10: dates follow the median of the wall clocks, or the earlier one of two; a node that is away does not count.
func TestDates_CLU10(t *testing.T) {
	c := New(Memory{})
	say := func(name string, ahead, at int64) { c.Answered(name, Stamp{Wall: 1e18 + at + ahead}, 1, at, at) }
	want := func(at, ahead int64) {
		t.Helper()
		if got := c.Dates(at, 1e18+at); got != 1e18+at+ahead {
			t.Errorf("by %v, want %v", time.Duration(got-1e18-at), time.Duration(ahead))
		}
	}
	want(0, 0)
	say("b", hour, 0)
	want(0, 0)
	say("b", -hour, 2*sec)
	want(2*sec, -hour)
	say("c", hour, 2*sec)
	want(2*sec, 0)
	say("b", hour, 4*sec)
	want(4*sec, hour)
	if a := c.Apart(4*sec, 1e18+4*sec); a["b"] != time.Hour || a["c"] != time.Hour {
		t.Errorf("%v", a)
	}
	for _, ahead := range []int64{-sec / 4, sec / 4, sec/2 + 1} { // by answers that took a second
		for _, name := range []string{"b", "c"} {
			c.Answered(name, Stamp{Wall: 1e18 + 9*sec/2 + ahead}, 1, 4*sec, 5*sec)
		}
		if ahead <= sec/2 { // they may show the same
			ahead = 0
		}
		want(5*sec, ahead)
		c = New(Memory{})
	}
	want(5*sec+int64(Reach), 0)
	if a := c.Apart(5*sec+int64(Reach), 0); len(a) != 0 {
		t.Errorf("%v", a)
	}
}

// TestStamp_CLU9: stamps in addresses, and what is none.
func TestStamp_CLU9(t *testing.T) {
	s := Stamp{Remembers, 1 << 60, -5, 77}
	b := s.Append([]byte("n1/ab"))
	if a, got, rest := Cut(append(b, 1, 2)); string(a) != "n1/ab" || got != s || len(rest) != 2 {
		t.Errorf("%s, %+v, %v", a, got, rest)
	}
	for n := range b {
		if a, got, _ := Cut(b[:n]); len(a) > 5 || got != (Stamp{}) {
			t.Errorf("%d bytes: %q, %+v", n, a, got)
		}
	}
	b[6] = 9
	if _, got, _ := Cut(b); got != (Stamp{}) {
		t.Errorf("an unknown kind: %+v", got)
	}
}
