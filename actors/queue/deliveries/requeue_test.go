package deliveries

import (
	"testing"
	"time"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// TestRequeue_TTL16: a requeued message returns to its position with its deadline, or ends if that or the delivery limit has
// passed.
func TestRequeue_TTL16(t *testing.T) {
	at := func(ms int64) clock.Instant { return clock.Instant((1_800_000_000_000 + ms) * int64(time.Millisecond)) }
	var out mail.Posts
	var f messages.Messages
	settings := policies.SettingsFor(nil, policies.Effective{})
	settings.DeliveryLimit = 1
	f.Init(&topology.Queue{Name: "q", Incarnation: 7, Durable: true}, topology.NewVHost("/"), nil, settings, nil, &out)
	d := New(Parts{Messages: &f})
	for range 2 {
		m := &message.Message{Header: []byte{0x10, 0, 2}, Body: []byte("body"), TTL: 10, Owned: true}
		f.Wait(f.Keep(m, f.Expiry.Deadline(10, at(0)), at(0)))
	}
	h, _ := f.First(at(0))
	for _, row := range []struct {
		now   int64
		ready int
	}{{0, 2}, {0, 1}} { // over the delivery limit the second time
		f.Expiry.Remove(h)
		f.Backlog.Take(h)
		if d.requeue(h, 0, at(row.now)); f.Backlog.Ready() != row.ready {
			t.Errorf("%d ready, want %d", f.Backlog.Ready(), row.ready)
		}
	}
	h, _ = f.First(at(0))
	f.Expiry.Remove(h)
	f.Backlog.Take(h)
	if d.requeue(h, 0, at(10)); f.Backlog.Len() != 0 {
		t.Error("ready past its deadline")
	}
}
