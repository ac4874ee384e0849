package budget

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// conn is a connection whose contents request room.
type conn struct {
	*Arrivals
	excused bool
	evicted int
	heard   []string
}

func (c *conn) Excused() bool { return c.excused }
func (c *conn) Evict()        { c.evicted++ }

func (i *Intake) connect() *conn {
	c := &conn{}
	c.Arrivals = i.Of(c)
	return c
}

func (c *conn) ask(bytes int64, number uint64) (*Arrival, bool) {
	r := &Arrival{}
	return r, r.Ask(c.Arrivals, bytes, number, func(number uint64, granted bool) {
		c.heard = append(c.heard, fmt.Sprint(number, granted))
	})
}

func (c *conn) hears(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.heard, want) {
		t.Errorf("heard %q, want %q", c.heard, want)
	}
	c.heard = nil
}

const mb = 1 << 20

func newIntake(contents, transactions int64) *Intake {
	i := NewIntake()
	i.SetLimits(contents, transactions)
	return i
}

func (i *Intake) holds(t *testing.T, contents, transactions int64) {
	t.Helper()
	if c, k := i.Used(); c != contents || k != transactions {
		t.Errorf("%d and %d bytes are held, want %d and %d", c, k, contents, transactions)
	}
}

// Contents get room up to the limit; the others, large or small, wait in order. If nothing is held, a content of any
// size gets room.
func TestIntake_OldestFirst(t *testing.T) {
	i := newIntake(25*mb, 0)
	a, b, c, d := i.connect(), i.connect(), i.connect(), i.connect()
	first, now := a.ask(16*mb, 1)
	_, then := b.ask(30*mb, 2)
	third, late := c.ask(1*mb, 3)
	if !now || then || late || a.Stuck() || !b.Stuck() || !c.Stuck() {
		t.Errorf("%v %v %v", now, then, late)
	}
	if _, now := d.ask(FreeArrival, 4); !now || d.Stuck() || d.Held() != 0 {
		t.Error("what is small waits")
	}
	i.holds(t, 16*mb, 0)
	first.Return()
	first.Return()
	b.hears(t, "2 true")
	c.hears(t)
	i.holds(t, 30*mb, 0)
	third.Return() // cancels the waiting request
	if c.Stuck() || b.Stuck() || b.Held() != 30*mb {
		t.Error("it is stuck")
	}
	if !b.Wait(nil) {
		t.Error("it waits")
	}
}

// All contents of a connection share one free allowance.
func TestIntake_FreeOnce(t *testing.T) {
	i := newIntake(mb, 0)
	other, a := i.connect(), i.connect()
	other.ask(mb, 0)
	var all []*Arrival
	waiting := 0
	for range 2047 {
		r, now := a.ask(FreeArrival/4, 0)
		if all = append(all, r); !now {
			waiting++
		}
	}
	if waiting != 2043 {
		t.Errorf("%d wait", waiting)
	}
	for _, r := range all {
		r.Return()
	}
	if a.Stuck() || a.free.Load() != 0 || a.Held() != 0 {
		t.Error("something is left")
	}
	i.holds(t, mb, 0)
}

// If all connections wait, a connection that waits with one content and holds room with another may exceed the limit,
// up to twice the limit; beyond it, contents are refused.
func TestIntake_EverybodyWaits(t *testing.T) {
	i := newIntake(10*mb, 0)
	a, b := i.connect(), i.connect()
	_, _ = a.ask(5*mb, 1)
	second, _ := b.ask(5*mb, 2)
	a.ask(5*mb, 3)
	a.hears(t) // b is still able to finish
	b.ask(8*mb, 4)
	a.hears(t, "3 true")
	b.hears(t)
	i.holds(t, 15*mb, 0)
	a.ask(3*mb, 5)
	b.hears(t, "4 false") // the oldest request, and too large
	a.hears(t)            // b can continue
	second.Return()
	a.hears(t, "5 true")
	i.holds(t, 13*mb, 0)
	for n := range uint64(36) { // while nothing else is held
		a.ask(16*mb, n)
	}
	if len(a.heard) != 36 || a.heard[35] != "35 false" || a.Stuck() {
		t.Errorf("%q", a.heard)
	}
}

// During an alarm no content gets room, except on a connection that could otherwise not finish the contents for which it holds room.
func TestIntake_Paused(t *testing.T) {
	i := newIntake(10*mb, 0)
	a, b := i.connect(), i.connect()
	mine, _ := a.ask(5*mb, 1)
	i.Pause(true)
	if _, now := b.ask(mb, 2); now {
		t.Error("somebody begins")
	}
	more, now := a.ask(mb, 3)
	if a.hears(t, "3 true"); now {
		t.Error("at once")
	}
	mine.Return()
	more.Return()
	b.hears(t)
	i.Pause(false)
	b.hears(t, "2 true")
}

// A connection that holds room while others wait is evicted unless each of its contents progresses; connections that
// the broker does not read are excused.
func TestIntake_Eviction(t *testing.T) {
	i := newIntake(12*mb, 10*mb)
	slow, fast, excused, transaction := i.connect(), i.connect(), i.connect(), i.connect()
	steady, _ := slow.ask(2*mb, 1)
	slow.ask(2*mb, 1)
	goesOn, _ := fast.ask(4*mb, 2)
	excused.ask(4*mb, 3)
	transaction.Keep(mb)
	excused.excused = true
	at := time.Second
	pass := func(d time.Duration, short bool) {
		for end := at + d; at < end; at += time.Second {
			goesOn.Came(SlowestRate)
			steady.Came(10 * SlowestRate) // fast progress of one content does not make up for the other
			i.Look(at, short)
		}
	}
	pass(time.Hour, false)
	waiting := i.connect()
	r, _ := waiting.ask(mb, 4)
	pass(Window, false)
	if slow.evicted != 0 {
		t.Error("too early")
	}
	pass(2*time.Second, false)
	if slow.evicted != 1 || fast.evicted+excused.evicted+transaction.evicted+waiting.evicted != 0 {
		t.Errorf("evicted: %d %d %d %d", slow.evicted, fast.evicted, excused.evicted, waiting.evicted)
	}
	r.Return()
	pass(time.Hour, false)
	late := i.connect()
	pass(2*time.Second, true)
	late.Keep(mb) // it began to hold room later, so it is judged later
	lately, _ := late.ask(FreeArrival+1, 5)
	pass(Window, true)
	if transaction.evicted != 1 || late.evicted != 0 {
		t.Errorf("evicted: %d %d", transaction.evicted, late.evicted)
	}
	lately.Return()
	late.Keep(mb)
	pass(Window, true)
	if late.evicted != 1 || fast.evicted+excused.evicted != 0 {
		t.Errorf("evicted: %d %d", late.evicted, fast.evicted)
	}
}

// Transactions for which there is no room are refused.
func TestIntake_Transactions(t *testing.T) {
	i := newIntake(mb, 10*mb)
	a, b := i.connect(), i.connect()
	if ok, _ := a.Keep(9 * mb); !ok || a.Held() != 9*mb {
		t.Error("refused")
	}
	if ok, most := b.Keep(2 * mb); ok || most != 10*mb || b.Held() != 0 {
		t.Error("taken")
	}
	a.Drop(9 * mb)
	if ok, _ := b.Keep(2 * mb); !ok {
		t.Error("refused")
	}
	i.holds(t, 0, 2*mb)
}

// Without an intake there are no limits.
func TestIntake_Nil(t *testing.T) {
	var i *Intake
	a := i.Of(nil)
	var r Arrival
	if ok, _ := a.Keep(1 << 40); !ok || !r.Ask(a, 1<<40, 0, nil) || a.Stuck() || a.Held() != 0 || !a.Wait(nil) || a.Changed() != nil {
		t.Error("it has")
	}
	a.Drop(1 << 40)
	r.Return()
}

// With random requests and returns, each content is admitted or refused within the limits, and in the end nothing is held.
func TestIntake_Random(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	i := newIntake(20*mb, 0)
	type content struct {
		room  Arrival
		state string
	}
	conns := make([]*conn, 12)
	contents := make([][]*content, len(conns))
	for n := range conns {
		conns[n] = i.connect()
	}
	ended := 0
	for step := range 100_000 {
		n := random.IntN(len(conns))
		c := conns[n]
		switch begin := random.IntN(3) == 0; {
		case c.Stuck():
		case begin && step < 90_000:
			x := &content{state: "waits"}
			contents[n] = append(contents[n], x)
			if x.room.Ask(c.Arrivals, 1+random.Int64N(16*mb), 0, func(_ uint64, granted bool) {
				if x.state = "refused"; granted {
					x.state = "admitted"
				}
			}) {
				x.state = "admitted"
			}
		case len(contents[n]) > 0:
			k := random.IntN(len(contents[n]))
			x := contents[n][k]
			if x.state == "waits" {
				t.Fatal("a content waits on a connection that is not stuck")
			}
			contents[n] = slices.Delete(contents[n], k, k+1)
			x.room.Return()
			ended++
		}
		if held, _ := i.Used(); held > 40*mb {
			t.Fatalf("%d bytes are held", held)
		}
		if step%1000 == 0 && !slices.ContainsFunc(conns, func(c *conn) bool { return !c.Stuck() }) {
			t.Fatal("everybody waits")
		}
	}
	for n, list := range contents {
		if len(list) > 0 {
			t.Errorf("connection %d has %d contents left", n, len(list))
		}
	}
	i.holds(t, 0, 0)
	if len(i.queue)+len(i.lines)+i.running != 0 || ended < 1000 {
		t.Errorf("%d wait, %d lines, %d run, %d ended", len(i.queue), len(i.lines), i.running, ended)
	}
}
