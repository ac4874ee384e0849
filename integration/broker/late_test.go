package broker

import (
	"testing"
	"testing/synctest"

	content "candlemark/internal/routing/message"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/supervision"
)

// A publish routed to a queue that has ended since the routing is accepted and discarded if the queue was deleted in
// order, refused if the queue failed (PRO-2).
func TestLEASE8LatePublish(t *testing.T) {
	for _, failed := range []bool{false, true} {
		f := &faults{}
		testkit.Run(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
			b.Log.Allow("actor panicked", "a queue ended after a panic", "a queue ended unexpectedly", "INTERNAL_ERROR", "closing connection")
			ch := b.Connect().Open()
			ch.Declare("q", nil)
			pid := b.Queue("q").PID
			if failed {
				f.arm(supervision.KindQueue, "*mail.Purge")
				_, _ = ch.QueuePurge("q", false)
			} else if _, err := ch.QueueDelete("q", false, false, false); err != nil {
				b.Fatal(err)
			}
			synctest.Wait()
			late := func(queue mail.Address) *mail.EnqueueReply {
				p := b.Probe()
				defer p.Close()
				actorlib.Send(b.Node.System().Root, queue, &mail.Enqueue{From: p.PID, Queue: queue, Messages: []content.Message{{Number: 5}}})
				reply, ok := p.Next().(*mail.EnqueueReply)
				if !ok || len(reply.Ranges) != 1 || reply.Ranges[0].First != 5 {
					b.Fatalf("%+v", reply)
				}
				return reply
			}
			if got := late(pid); got.Refused != failed {
				b.Errorf("failed %v: refused %v", failed, got.Refused)
			}
			b.Connect().Open().Declare("q", nil) // another incarnation
			if got := late(b.Queue("q").PID); got.Refused {
				b.Error("the queue of the same name refuses")
			}
		})
	}
}
