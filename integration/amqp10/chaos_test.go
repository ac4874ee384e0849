package amqp10

import (
	"math/rand/v2"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"
)

// TestChaos sends random valid and invalid frames: no actor panics, nothing stays allocated, and other clients are unaffected.
func TestChaos(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("closing connection")
		b.Connect().Open().Declare("q", nil)
		b.Connect().Open().Declare("other", nil)
		published := uint32(0)
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 1))
			x := openRaw(b, opening())
			go func() { // some clients read, others do not
				for seed%5 != 0 {
					if _, err := x.frame(); err != nil {
						return
					}
				}
			}()
			x.send(1, beginning(), sending(0, "q"), receiving(1, "q"), receiving(2, "q"))
			delivery := uint32(0)
			for range 200 {
				_ = x.SetWriteDeadline(time.Now().Add(time.Second))
				if _, err := x.Write(anyFrame(r, &delivery)); err != nil {
					break
				}
			}
			_ = x.Close()
			b.Advance(time.Second)
			published += delivery
			if i := b.Describe("q"); i.Unacked != 0 || i.Consumers != 0 {
				t.Fatalf("seed %d: %d unacked, %d consumers", seed, i.Unacked, i.Consumers)
			}
			if n := b.Log.Count("panicked"); n > 0 {
				t.Fatalf("seed %d", seed)
			}
		}
		t.Logf("%d messages were published", published)
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		c.put(c.sender("/queues/other", nil), "m")
		c.want(c.receiver("/queues/other", nil), "m")
	})
}

// anyFrame returns a random frame that is valid often enough.
func anyFrame(r *rand.Rand, delivery *uint32) []byte {
	handle := uint32(1 + r.IntN(2))
	number := func() amqp10.Optional[uint32] {
		return amqp10.Optional[uint32]{Value: uint32(r.IntN(20)), Set: r.IntN(5) > 0}
	}
	states := []amqp10.StateKind{amqp10.NoState, amqp10.Accepted, amqp10.Rejected, amqp10.Released, amqp10.Modified}
	var p amqp10.Composite
	switch r.IntN(60) {
	case 0:
		p = sending(handle, "q")
	case 2:
		a := receiving(handle, "q")
		a.SndSettleMode = uint8(r.IntN(3))
		p = a
	case 5, 6, 7, 8, 9:
		f := &amqp10.Flow{NextIncomingID: number(), IncomingWindow: uint32(r.IntN(50)), LinkCredit: number(), DeliveryCount: number(), Drain: r.IntN(3) == 0, Echo: r.IntN(3) == 0}
		if r.IntN(3) > 0 {
			f.Handle = amqp10.Some(handle)
		}
		p = f
	case 10, 11, 12, 13:
		p = &amqp10.Disposition{
			Role: r.IntN(5) > 0, First: uint32(r.IntN(20)), Last: number(), Settled: r.IntN(2) == 0,
			State: amqp10.State{Kind: states[r.IntN(len(states))], UndeliverableHere: r.IntN(2) == 0},
		}
	case 14:
		p = &amqp10.Detach{Handle: handle, Closed: r.IntN(2) == 0}
	case 3:
		if r.IntN(4) == 0 {
			p = &amqp10.End{}
		} else {
			p = beginning()
		}
	default:
		payload := []byte{0, 0x53, 0x75, 0xa0, 1, 'x'}
		if r.IntN(100) == 0 {
			payload = payload[:r.IntN(len(payload))]
		}
		more := r.IntN(6) == 0
		b := transferFrame(0, *delivery, more, payload)
		if !more {
			*delivery++
		}
		return b
	}
	return amqp10.AppendFrame(nil, 1, p)
}
