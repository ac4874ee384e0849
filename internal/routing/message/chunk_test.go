package message_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/routing/message"
)

func TestChunk_ChargedUntilTheLastRelease(t *testing.T) {
	for _, size := range []int{1, 2 << 10, 8 << 10, 8<<10 + 1, 16 << 10, 100 << 10, 256 << 10, 256<<10 + 1, 1 << 20} {
		g := message.NewGate(1 << 30)
		for range 3 { // later rounds may reuse a buffer
			c := g.NewChunk(size)
			if n := len(c.Buf); n < size || n > max(2*size, 16<<10) || g.Used() != int64(n) {
				t.Fatalf("asked for %d, got %d, charged %d", size, n, g.Used())
			}
			c.Retain()
			c.Retain()
			for range 2 {
				c.Release()
				if g.Used() != int64(len(c.Buf)) || c.Buf == nil {
					t.Fatalf("%d bytes: let go too early", size)
				}
			}
			if c.Release(); g.Used() != 0 || c.Buf != nil {
				t.Fatalf("%d bytes: %d are still charged, the buffer is %v", size, g.Used(), c.Buf != nil)
			}
		}
	}
}

func TestChunk_ReleasedTooOften(t *testing.T) {
	c := message.NewGate(1).NewChunk(1)
	c.Release()
	defer func() {
		if recover() == nil {
			t.Error("nobody noticed")
		}
	}()
	c.Release()
}

func TestChunk_NilHasNothingToCount(t *testing.T) {
	var c *message.Chunk
	c.Retain()
	c.Release()
}

// Two chunks in use at the same time never share memory, even if buffers are reused often.
func TestChunk_BuffersAreNotShared(t *testing.T) {
	g := message.NewGate(1 << 40)
	var users sync.WaitGroup
	for user := range byte(8) {
		users.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(user)))
			for range 300 {
				c := g.NewChunk(1 + r.IntN(64<<10))
				for i := range c.Buf {
					c.Buf[i] = user
				}
				for _, b := range c.Buf {
					if b != user {
						t.Errorf("%d wrote into the buffer of %d", b, user)
						return
					}
				}
				c.Release()
			}
		})
	}
	users.Wait()
	if g.Used() != 0 {
		t.Errorf("%d bytes are left", g.Used())
	}
}

func TestGate_ClosedAboveItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := message.NewGate(100)
		done := make(chan struct{})
		if g.Charge(100); !g.Wait(done) { // at the limit it is open
			t.Fatal("done")
		}
		g.Charge(1)
		passed := make(chan time.Time, 1)
		go func() {
			g.Wait(done)
			passed <- time.Now()
		}()
		begin := time.Now()
		time.Sleep(time.Second)
		g.Charge(50)
		g.Refund(50) // still above the limit
		time.Sleep(time.Second)
		g.Refund(1)
		if at := <-passed; at.Sub(begin) != 2*time.Second {
			t.Errorf("open after %v", at.Sub(begin))
		}
	})
}

// A token left from an earlier opening does not let a waiter pass a closed gate.
func TestGate_OldTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := message.NewGate(10)
		for range 5 { // without a waiter
			g.Charge(20)
			g.Refund(20)
		}
		g.Charge(11)
		done := make(chan struct{})
		passed := make(chan bool, 1)
		go func() { passed <- g.Wait(done) }()
		synctest.Wait()
		if len(passed) > 0 {
			t.Fatal("passed a closed gate")
		}
		close(done)
		if <-passed {
			t.Error("the connection is over")
		}
	})
}

// A reader that charges and waits never blocks forever while other goroutines release chunks.
func TestGate_NeverStuck(t *testing.T) {
	g := message.NewGate(1000)
	chunks := make(chan *message.Chunk, 1000)
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for c := range chunks {
				c.Release()
			}
		})
	}
	for range 20000 {
		g.Wait(nil)
		c := g.NewChunk(300)
		c.Retain()
		chunks <- c
		c.Release()
	}
	close(chunks)
	users.Wait()
	if g.Used() != 0 {
		t.Errorf("%d bytes are left", g.Used())
	}
}

func TestDebt_IsSettledOnce(t *testing.T) {
	g := message.NewGate(1)
	var d message.Charge
	d.Release() // nothing is owed
	d.Add(g, 5)
	d.Add(g, 7)
	if g.Used() != 12 {
		t.Errorf("charged %d", g.Used())
	}
	d.Release()
	d.Release()
	if g.Used() != 0 {
		t.Errorf("%d bytes are left", g.Used())
	}
}
