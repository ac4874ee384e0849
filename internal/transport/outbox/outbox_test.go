package outbox

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"candlemark/internal/transport/budget"
)

func put(o *Outbox, s string) { o.End(append(o.Begin(), s...)) }

func TestTakeGathers(t *testing.T) {
	starts := 0
	o := New(10, func() { starts++ })
	if o.Take() != nil {
		t.Fatal("an empty outbox gave something")
	}
	put(o, "one ")
	put(o, "two ")
	put(o, "")
	if got := string(o.Take()); got != "one two " {
		t.Fatalf("got %q", got)
	}
	put(o, "three")
	if got := string(o.Take()); got != "three" {
		t.Fatalf("got %q", got)
	}
	if o.Take() != nil || starts != 1 {
		t.Fatalf("%d writers", starts)
	}
	if o.pending != nil || o.current != nil {
		t.Error("an idle outbox keeps a buffer")
	}
	put(o, "four")
	if got := string(o.Take()); got != "four" || starts != 2 {
		t.Fatalf("got %q from %d writers", got, starts)
	}
}

func TestRoom(t *testing.T) {
	o := New(4, nil)
	called := 0
	o.WhenRoom(func() { called++ })
	if called != 1 {
		t.Error("there is room in an empty outbox")
	}
	b := o.Begin()
	if !o.RoomFor(b) || o.RoomFor(append(b, "full"...)) {
		t.Error("wrong room")
	}
	o.End(append(b, "full"...))
	o.WhenRoom(func() { called++ })
	o.WhenRoom(func() { called++ })
	if called != 1 {
		t.Error("called without room")
	}
	o.Take()
	if called != 3 {
		t.Errorf("%d calls after the swap", called)
	}
	o.Take()
	if called != 3 {
		t.Error("called twice")
	}
}

func TestClose(t *testing.T) {
	o := New(4, nil)
	called := false
	put(o, "before")
	o.WhenRoom(func() { called = true })
	o.Close()
	put(o, "after")
	if b := o.Begin(); o.RoomFor(b) {
		t.Error("room in a closed outbox")
	} else {
		o.End(b)
	}
	if got := string(o.Take()); got != "before" {
		t.Errorf("got %q", got)
	}
	if o.Take() != nil || called {
		t.Error("a closed outbox went on")
	}
	put(o, "after")
	o.WhenRoom(func() { called = true })
	if o.Take() != nil || called || o.pending != nil {
		t.Error("a closed outbox went on")
	}
}

func TestFinish(t *testing.T) {
	o, drained := New(4, nil), 0
	o.Finish(func() { drained++ })
	if drained != 1 {
		t.Error("an idle outbox is drained at once")
	}
	o, drained = New(4, nil), 0
	put(o, "last")
	o.Finish(func() { drained++ })
	o.Take()
	if drained != 0 {
		t.Error("drained before it was written")
	}
	o.Take()
	if drained != 1 {
		t.Error("not drained")
	}
}

func TestDirect(t *testing.T) {
	starts, takes := 0, 100
	var sent []byte
	var o *Outbox
	during := func() {}
	o = NewDirect(1<<20, func() { starts++ }, func(b []byte) int {
		during()
		n := min(takes, len(b))
		sent = append(sent, b[:n]...)
		return n
	})
	put(o, "all")
	if string(sent) != "all" || starts != 0 || o.writing {
		t.Fatalf("%q, %d writers", sent, starts)
	}
	takes = 2
	put(o, "some")
	put(o, " more")
	for b := o.Take(); b != nil; b = o.Take() {
		sent = append(sent, b...)
	}
	if string(sent) != "allsome more" || starts != 1 {
		t.Fatalf("%q, %d writers", sent, starts)
	}
	takes, during = 100, func() { put(o, "meanwhile") }
	put(o, "first ")
	for b := o.Take(); b != nil; b = o.Take() {
		sent = append(sent, b...)
	}
	if string(sent) != "allsome morefirst meanwhile" || starts != 2 {
		t.Fatalf("%q, %d writers", sent, starts)
	}
	during = func() { t.Error("an appender wrote much") }
	put(o, string(make([]byte, maxDirect+1)))
	if starts != 3 {
		t.Errorf("%d writers", starts)
	}
}

func TestDirectFinish(t *testing.T) {
	for _, takes := range []int{0, 2, 4} {
		drained := 0
		var o *Outbox
		o = NewDirect(10, nil, func(b []byte) int {
			o.Finish(func() { drained++ })
			return takes
		})
		put(o, "last")
		for b := o.Take(); b != nil; b = o.Take() {
			if len(b) != 4-takes {
				t.Errorf("%q", b)
			}
		}
		if drained != 1 {
			t.Errorf("takes %d: drained %d times", takes, drained)
		}
	}
}

// Many appenders write to a socket that accepts random amounts: the bytes of each appender are sent once, complete and in its order.
func TestOrderUnderLoad(t *testing.T) {
	const appenders, each = 8, 5000
	var sent []byte // used only by the current writer
	var writers sync.WaitGroup
	var o *Outbox
	o = NewDirect(1<<16, func() {
		writers.Go(func() {
			for b := o.Take(); b != nil; b = o.Take() {
				sent = append(sent, b...)
			}
		})
	}, func(b []byte) int {
		n := rand.IntN(len(b) + 1)
		sent = append(sent, b[:n]...)
		return n
	})
	var all sync.WaitGroup
	for a := range appenders {
		all.Go(func() {
			for i := range each {
				put(o, fmt.Sprintf("%d %d\n", a, i))
			}
		})
	}
	all.Wait()
	writers.Wait()
	next := [appenders]int{}
	for line := range bytes.Lines(sent) {
		var a, i int
		if _, err := fmt.Sscanf(string(line), "%d %d\n", &a, &i); err != nil || next[a] != i {
			t.Fatalf("%q: %v, want %d", line, err, next[a])
		}
		next[a]++
	}
	for a, n := range next {
		if n != each {
			t.Errorf("appender %d: %d of %d", a, n, each)
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	o := NewDirect(1<<20, nil, func(b []byte) int { return len(b) })
	frame := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() { o.End(append(o.Begin(), frame...)) }); n > 0.5 {
		t.Errorf("%v allocations", n)
	}
}

// The client's unread output is charged with what is appended, until the socket has accepted it; what was appended before is not.
// While its user has no room left, the outbox takes little.
func TestPRO20_Charge(t *testing.T) {
	const limit = 1 << 20
	unread := budget.NewUnread()
	unread.SetLimit(limit)
	client := unread.Of("user", nil)
	part, rest := client.Part(), client.Part()
	o := New(200<<10, nil)
	put(o, strings.Repeat("a", 100<<10))
	o.Charge(part)
	put(o, strings.Repeat("b", 50<<10))
	if unread.Used() != 0 {
		t.Errorf("%d bytes are charged", unread.Used())
	}
	put(o, strings.Repeat("c", 100<<10))
	if used := unread.Used(); used < 80<<10 || used > 200<<10 {
		t.Errorf("%d bytes are charged", used)
	}
	o.Take()
	o.Wrote(230 << 10)
	put(o, strings.Repeat("d", 70<<10))
	if !o.HasRoom() {
		t.Error("no room")
	}
	rest.Take(limit)
	if o.HasRoom() {
		t.Error("there is room for more though the user has none")
	}
	rest.Return(limit)
	o.Wrote(20 << 10)
	o.Take()
	o.Wrote(70 << 10)
	if o.Take() != nil || unread.Used() != 0 || !part.Room(budget.FreeUnread) {
		t.Errorf("%d bytes are left", unread.Used())
	}
}
