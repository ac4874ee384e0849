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
	here.Hold(272*mb + 10)
	expect(here.Room(mb), "the objects of user 'eve' in virtual host 'a' may take at most 352321536 bytes of memory")
	expect(second.Room(56*mb), "") // connections can use what is declared
	expect(second.Room(56*mb+1), "the objects of user 'eve' in virtual host 'a' may take at most 411041792 bytes of memory")
	expect(there.Room(48*mb), "")
	expect(there.Room(48*mb+1), "user 'eve' may take at most 402653184 bytes")
	bob, there2 := o.Definitions("bob", "a"), o.Definitions("bob", "b")
	expect(bob.Room(84*mb), "")
	expect(bob.Room(84*mb+1), "user 'bob' in virtual host 'a' may take at most 88080384 bytes")
	expect(there2.Room(115*mb), "")
	expect(there2.Room(116*mb), "user 'bob' in virtual host 'b'")
	bob.Hold(84 * mb)
	expect(o.Definitions("carol", "a").Room(21*mb), "")
	expect(o.Definitions("carol", "a").Room(21*mb+1), "user 'carol'")
	expect(here.Room(0), "user 'eve'") // she has more than she could get now
	expect(o.Definitions("", "a").Room(1000*mb), "")
	o.Definitions("", "c").Hold(50 * mb) // stored ones are loaded at the start

	here.Hold(-272*mb - 10)
	bob.Hold(-84 * mb)
	first.Close()
	first.Close()
	first.Hold(-5)
	if first.Held() != 0 || o.Used() != 50*mb || len(o.users) != 1 || len(o.vhosts) != 1 || len(o.both) != 1 {
		t.Errorf("%d are left, %v, %v, %v", o.Used(), o.users, o.vhosts, o.both)
	}
}

// Notes of queues count for the user and the virtual host; after a restart, when the user is not known, for the virtual host.
func TestObjects_Notes_PRO21(t *testing.T) {
	o := NewObjects()
	o.SetLimit(512 * mb)
	of := o.Definitions("eve", "a")
	notes := of.Notes()
	notes.Hold(448 * mb)
	if notes.Room(1) == nil || of.Room(1) == nil || notes.Spare(1) {
		t.Error("no limit of the user")
	}
	if err := o.Definitions("", "a").Notes().Room(1); err == nil || !strings.Contains(err.Error(), "virtual host 'a'") {
		t.Error(err)
	}
	notes.Close()
	o.Definitions("", "c").Hold(100 * mb)
	loaded := o.Definitions("", "b").Notes()
	if loaded.Room(360*mb) != nil || loaded.Room(361*mb) == nil || !loaded.Spare(180*mb) || loaded.Spare(181*mb) {
		t.Error("stored queues have limits of their own")
	}
	if of.Room(270*mb) != nil || of.Room(271*mb) == nil || (*Holder)(nil).Notes() != nil {
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
