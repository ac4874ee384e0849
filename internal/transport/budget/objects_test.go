package budget

import (
	"strings"
	"testing"
)

// Each of the limits refuses what is above it, and only that; what ends makes room.
func TestObjects_PRO21(t *testing.T) {
	o := NewObjects()
	o.SetLimit(512 * mb)
	expect := func(err error, want string) {
		t.Helper()
		if got := ""; err != nil || want != "" {
			if err != nil {
				got = err.Error()
			}
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	first, second := o.Connection("eve", "a"), o.Connection("eve", "a")
	first.Hold(64 * mb)
	expect(first.Room(1), "the objects of a connection may take at most 67108864 bytes of memory")
	expect(second.Room(64*mb), "")
	if !second.Spare(32*mb) || second.Spare(33*mb) || first.Spare(1) {
		t.Error("objects that can be given up may take half")
	}
	first.Hold(-10)
	expect(first.Room(10), "")
	expect(first.Room(11), "a connection")

	here, there := o.Definitions("eve", "a"), o.Definitions("eve", "b")
	here.Hold(300 * mb)
	expect(second.Room(30*mb), "the objects of user 'eve' may take at most 402653184 bytes")
	expect(there.Room(30*mb), "user 'eve'")
	others := o.Definitions("bob", "a")
	expect(others.Room(30*mb), "the objects of virtual host 'a'")
	expect(o.Definitions("bob", "b").Room(30*mb), "")
	expect(o.Definitions("", "a").Room(1000*mb), "")
	o.Definitions("", "c").Hold(140 * mb) // stored ones are loaded at the start
	expect(o.Definitions("bob", "b").Room(30*mb), "the objects of all users may take at most 536870912 bytes")

	here.Hold(-300 * mb)
	expect(others.Room(30*mb), "")
	first.Close()
	first.Close()
	first.Hold(-5)
	if first.Held() != 0 || o.Used() != 140*mb || len(o.users) != 1 || len(o.vhosts) != 1 {
		t.Errorf("%d are left, %v, %v", o.Used(), o.users, o.vhosts)
	}
}

// Notes of queues count for the user and the virtual host; after a restart, when the user is not known, for the virtual host.
func TestObjects_Notes_PRO21(t *testing.T) {
	o := NewObjects()
	o.SetLimit(512 * mb)
	of := o.Definitions("eve", "a")
	notes := of.Notes()
	notes.Hold(384 * mb)
	if notes.Room(1) == nil || of.Room(1) == nil || notes.Spare(1) {
		t.Error("no limit of the user")
	}
	if err := o.Definitions("", "a").Notes().Room(1); err == nil || !strings.Contains(err.Error(), "virtual host 'a'") {
		t.Error(err)
	}
	o.Definitions("", "c").Hold(100 * mb)
	notes.Close()
	loaded := o.Definitions("", "b").Notes()
	if loaded.Room(284*mb) != nil || loaded.Room(385*mb) == nil || !loaded.Spare(156*mb) || loaded.Spare(157*mb) {
		t.Error("stored queues have limits of their own")
	}
	if of.Room(384*mb) != nil || (*Holder)(nil).Notes() != nil {
		t.Error("a queue that has ended holds notes")
	}
}

// However small the watermark is, some objects are possible; without a limit, any number.
func TestObjects_Least_PRO21(t *testing.T) {
	o := NewObjects()
	c := o.Connection("", "/")
	if err := c.Room(1 << 50); err != nil {
		t.Error(err)
	}
	o.SetLimit(1)
	if err := c.Room(minObjects); err != nil {
		t.Error(err)
	}
	if c.Room(minObjects+1) == nil {
		t.Error("no limit")
	}
	var none *Objects
	h := none.Connection("", "")
	h.Hold(1)
	h.Close()
	if h.Room(1<<50) != nil || h.Held() != 0 || none.Definitions("u", "v") != nil {
		t.Error("nil has limits")
	}
}
