package budget

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

const kb = 1 << 10

// unreader is a connection whose client reads when a test says so.
type unreader struct {
	*Output
	*Part
	cut, waked int
}

func (u *Unread) connect(user string) *unreader {
	c := &unreader{}
	c.Output = u.Of(user, func() { c.cut++ })
	c.Part = c.Output.Part()
	return c
}

// get gets messages of a size until there is no room, and returns their bytes.
func (c *unreader) get(size int64) (bytes int64) {
	for c.Room(size) && bytes < 1<<30 {
		c.Take(size)
		bytes += size
	}
	return bytes
}

func (c *unreader) wait(bytes int64) { c.WhenRoom(bytes, func() { c.waked++ }) }

// fill makes connections until the user has no room left.
func (u *Unread) fill(user string) (all []*unreader) {
	for {
		c := u.connect(user)
		if all = append(all, c); c.get(kb) <= FreeUnread {
			return all
		}
	}
}

func newUnread(limit int64) *Unread {
	u := NewUnread()
	u.SetLimit(limit)
	return u
}

// Nil and an Unread without limits: only the deliveries of one connection are bounded.
func TestUnread_WithoutLimits(t *testing.T) {
	var none *Unread
	c := none.connect("a")
	c.Part.Take(1)
	c.WhenRoom(1, func() { c.waked++ })
	c.Excuse(true)
	if !c.Room(1<<40) || c.Pressed() || !c.Admits() || c.waked != 1 {
		t.Error("nil has bounds")
	}
	c.Part.Return(1)
	c.Part.Close()
	c.Output.Close()
	u := NewUnread()
	for range 100 {
		c := u.connect("a")
		if got := c.get(mb / 2); got != MaxOutput || c.Pressed() || !c.Admits() {
			t.Errorf("got %d", got)
		}
	}
	if u.Look(time.Second) != nil || u.Look(time.Hour) != nil {
		t.Error("without others there is no hurry")
	}
}

// One connection has a quarter of the limit, one user half of it, all together have it; each exceeded by at most one message,
// and by what is free for each connection.
func TestUnread_Shares(t *testing.T) {
	for _, size := range []int64{100, 10 * kb, 3 * mb} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			u := newUnread(16 * mb)
			free := int64(FreeUnread)
			near := func(what string, got, want int64) {
				t.Helper()
				if got < want-want/8 || got > want+size+2*bookStep {
					t.Errorf("%s: %d bytes, want about %d", what, got, want)
				}
			}
			first := u.connect("a")
			near("a connection", first.get(size), 4*mb)
			second := u.connect("a")
			third := u.connect("a")
			got := second.get(size) + third.get(size)
			if size < mb {
				near("a user", got, 4*mb+2*free)
			}
			if !third.Pressed() || third.Admits() {
				t.Error("the user is not pressed")
			}
			other := u.connect("b")
			if other.Pressed() || !other.Admits() {
				t.Error("another user is pressed")
			}
			others := int64(0)
			for range 20 {
				others += u.connect("b").get(size) + u.connect("c").get(size)
			}
			if size < free {
				near("all", u.Used(), 16*mb)
				near("with what is free", others, 8*mb+40*free)
			} else if u.Used() > 16*mb+2*size {
				t.Errorf("all: %d", u.Used())
			}
			if newcomer := u.connect("d"); !newcomer.Admits() || !newcomer.Room(free) || newcomer.Room(free+1) {
				t.Error("a newcomer gets little, and that always")
			}
		})
	}
}

// A function that waits is called when the connection, the user or all together hold less, and not before.
func TestUnread_WhenRoom(t *testing.T) {
	t.Run("connection", func(t *testing.T) {
		u := newUnread(16 * mb)
		c := u.connect("a")
		c.get(kb)
		c.wait(kb)
		c.Part.Return(100 * kb)
		if c.waked != 0 {
			t.Error("too early")
		}
		c.Part.Return(mb)
		if c.waked != 1 {
			t.Error("not woken")
		}
		c.wait(kb)
		if c.waked != 2 {
			t.Error("there was room already")
		}
	})
	t.Run("user", func(t *testing.T) {
		u := newUnread(16 * mb)
		slow := u.fill("a")[0]
		c := u.connect("a")
		if got := c.get(kb); got != FreeUnread {
			t.Errorf("got %d", got)
		}
		c.wait(kb)
		c.Part.Return(20 * kb)
		if c.waked != 0 {
			t.Error("too early")
		}
		c.Part.Return(20 * kb) // little is always allowed
		if c.waked != 1 {
			t.Error("its own room is not used")
		}
		c.wait(mb) // a large message needs room
		c.Part.Return(24 * kb)
		if c.waked != 1 || c.Room(mb) {
			t.Error("a large message is not for free")
		}
		slow.Part.Return(2 * mb)
		if c.waked != 2 || !c.Room(mb) {
			t.Error("not woken")
		}
	})
}

// The same when all together hold too much; a connection that has ended is not called.
func TestUnread_WhenRoomForAll(t *testing.T) {
	u := newUnread(16 * mb)
	all := append(u.fill("a"), u.fill("b")...)
	c, last := u.connect("c"), all[len(all)-1]
	c.wait(mb)
	last.wait(mb)
	last.Output.Close()
	all[0].Part.Return(mb)
	if c.waked != 0 {
		t.Error("too early")
	}
	all[1].Output.Close()
	if c.waked != 1 || !c.Room(mb) {
		t.Error("not woken")
	}
	if last.waked != 0 {
		t.Error("a connection that has ended is woken")
	}
}

// A client that makes others wait and reads too little throughout a window is cut off. Clients that read or hold little are not, nor
// are other users if one user has no room left.
func TestUnread_CutOff(t *testing.T) {
	u := newUnread(16 * mb)
	var at time.Duration = time.Second
	silent, drips, reads, sits := u.connect("a"), u.connect("a"), u.connect("a"), u.connect("a")
	other, little, pauses := u.connect("b"), u.connect("a"), u.connect("a")
	parked := reads.Output.Part() // on a connection that is otherwise read
	pauses.Excuse(true)
	pass := func(d time.Duration) (users []string) {
		for end := at + d; at < end; at += time.Second {
			reads.Part.Return(300 * kb)
			reads.Part.Take(300 * kb)
			drips.Part.Return(10 * kb)
			drips.Part.Take(10 * kb)
			users = append(users, u.Look(at)...)
		}
		return users
	}
	little.Part.Take(FreeUnread)
	for _, c := range []*unreader{silent, drips, reads, other, pauses} {
		c.Part.Take(mb)
	}
	sits.Part.Take(100 * kb)
	sits.Part.Return(50 * kb)
	if cut := pass(time.Hour); cut != nil {
		t.Errorf("%q were cut off though nobody waits", cut)
	}
	waits := u.connect("a")
	waits.get(kb) // fills the share
	waits.Part.Return(waits.Part.used.Load())
	silent.Part.Take(8 * mb)
	if cut := pass(UnreadWindow); cut != nil {
		t.Errorf("%q: too early", cut)
	}
	if cut := pass(2 * time.Second); !slices.Equal(cut, []string{"a", "a"}) || silent.cut != 1 || drips.cut != 1 {
		t.Errorf("%q were cut off, silent %d, drips %d", cut, silent.cut, drips.cut)
	}
	parked.Take(100 * kb)
	pass(2 * UnreadWindow)
	if reads.cut == 0 {
		t.Error("what a client leaves unread beside other traffic stays for ever")
	}
	if other.cut+little.cut+pauses.cut+waits.cut+sits.cut > 0 {
		t.Error("others were cut off")
	}
}

// A part returns the bytes that it holds when it ends, once.
func TestUnread_Parts(t *testing.T) {
	u := newUnread(16 * mb)
	c := u.connect("a")
	p := c.Output.Part()
	p.Take(2 * mb)
	c.Part.Take(mb)
	p.Return(mb)
	p.Close()
	p.Close()
	p.Take(mb)
	p.Return(mb)
	if got := c.Output.used.Load(); got != mb {
		t.Errorf("%d bytes are left", got)
	}
	c.Output.Close()
	c.Output.Close()
	c.Part.Return(mb)
	if c.Output.used.Load() != 0 || u.Used() != 0 || len(u.users)+len(u.large)+len(u.waiting) > 0 {
		t.Errorf("%d and %d bytes are left, %+v", c.Output.used.Load(), u.Used(), u)
	}
}

// Many goroutines take and return: the counts are right at the end, and who waits is woken.
func TestUnread_Concurrently(t *testing.T) {
	u := newUnread(2 * mb)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 0))
			for range 20 {
				o := u.Of(fmt.Sprint("user ", n%3), func() {})
				p, room := o.Part(), make(chan struct{}, 1)
				held := int64(0)
				for range 200 {
					size := r.Int64N(200 * kb)
					for !p.Room(size) {
						p.WhenRoom(size, func() { room <- struct{}{} })
						some := r.Int64N(held + 1)
						p.Return(some)
						if held -= some; held > 0 {
							p.Return(held)
							held = 0
						}
						<-room
					}
					p.Take(size)
					held += size
				}
				if r.IntN(2) == 0 {
					p.Close()
				}
				o.Close()
			}
		})
	}
	all.Wait()
	if u.Used() != 0 || len(u.users)+len(u.large)+len(u.waiting) > 0 {
		t.Errorf("%d bytes are left, %+v", u.Used(), u)
	}
}
