package amqp10

import (
	"context"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	status "candlemark/internal/servicebus/entity"
	"candlemark/internal/storage/parameters"
	"candlemark/protocol/amqp10"
	"candlemark/supervision"
)

// A too large message to an entity is rejected, whether it is sent in one transfer or in many, and its link stays attached; if it
// was sent settled, the link is detached. Too large requests to nodes, and too large messages of RabbitMQ's dialect,
// detach their links.
func TestEntity_TooLarge_SBE13(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { cfg.MaxMessage = 30_000 }, func(b *testkit.Bubble) {
		entity(b)
		b.Log.Allow("link detached by the broker")
		const detached = "detached"
		for _, w := range []struct {
			address, name string
			settled       bool
			frames        uint32 // maximum frame size
			want          string
		}{
			{"q", "one transfer", false, 1 << 16, "rejected"},
			{"q", "several transfers", false, 8000, "rejected"},
			{"q", "settled", true, 8000, detached},
			{"q/$management", "request", false, 8000, detached},
			{"/queues/q", "RabbitMQ's dialect", false, 8000, detached},
		} {
			r := openRaw(b, opening())
			r.send(1, beginning())
			r.want(amqp10.CodeBegin)
			attach := sending(0, "")
			attach.Target.Address = amqp10.Some(w.address)
			r.send(1, attach)
			r.want(amqp10.CodeAttach)
			first := &amqp10.Transfer{Handle: 0, DeliveryID: amqp10.Some(uint32(0)), DeliveryTag: []byte{1}, Settled: w.settled}
			r.say(amqp10.AppendTransfer(nil, 1, first, w.frames, amqp10.AppendDataHead(nil, 60_000), make([]byte, 60_000)))
			if w.want == detached {
				if d := r.want(amqp10.CodeDetach).(*amqp10.Detach); d.Error == nil || d.Error.Condition != amqp10.MessageSizeExceeded {
					t.Errorf("%s: %+v", w.name, d)
				}
				_ = r.Close()
				continue
			}
			d := r.want(amqp10.CodeDisposition).(*amqp10.Disposition)
			if d.State.Kind != amqp10.Rejected || d.State.Error == nil || d.State.Error.Condition != amqp10.MessageSizeExceeded || !d.Settled {
				t.Errorf("%s: %+v", w.name, d)
			}
			r.say(transferFrame(0, 1, false, append(amqp10.AppendDataHead(nil, 1), 'x')))
			if d := r.want(amqp10.CodeDisposition).(*amqp10.Disposition); d.First != 1 || d.State.Kind != amqp10.Accepted {
				t.Errorf("after %s: %+v", w.name, d)
			}
			_ = r.Close()
		}
		if i := b.Describe("q"); i.Ready != 2 {
			t.Errorf("%d messages", i.Ready)
		}
	})
}

// TestEntity_MaxMessageSize_SBE17: links to entities have the maximum of the tier, or the entity's own, within the
// broker's maximum.
func TestEntity_MaxMessageSize_SBE17(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { cfg.MaxMessage = 4 << 20 }, func(b *testkit.Bubble) {
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		entity(b)
		for _, w := range []struct {
			kilobytes int64 // of the entity
			address   string
			want      uint64
		}{
			{0, "q", 256 << 10}, {256, "q", 256 << 10}, {1024, "q", 1 << 20}, {4096, "q", 4 << 20}, {100_000, "q", 4 << 20}, {0, "q", 256 << 10}, {1024, "/queues/q", 4 << 20},
		} {
			_, err := b.Node.API().PutParameter(context.Background(), parameters.Parameter{
				Component: status.Component, VHost: "/", Name: "q", Value: status.Extra{MaxMessageSizeInKilobytes: w.kilobytes}.Marshal(),
			})
			if err != nil {
				t.Fatal(err)
			}
			s := c.sender(w.address, nil)
			if got := s.MaxMessageSize(); got != w.want {
				t.Errorf("%s with %d: %d, want %d", w.address, w.kilobytes, got, w.want)
			}
			_ = s.Close(context.Background())
			if w.kilobytes == 256 {
				n := c.node("q")
				for size, want := range map[int]int32{255 << 10: 200, 256 << 10: 400} {
					if code, answer := n.schedule(n.scheduled(strings.Repeat("x", size), time.Now().Add(time.Hour))); code != want {
						t.Errorf("a scheduled message of %d bytes: %d, %v", size, code, answer)
					}
				}
			}
		}
	})
}
