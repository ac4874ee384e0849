package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// TestEntity_Numbers_SBE18: sequence numbers begin with 1 in each entity; messages are scheduled, cancelled, peeked at and received by them.
func TestEntity_Numbers_SBE18(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		n, ctx := c.node("q"), context.Background()
		s, r := c.sender("q", nil), c.receiver("q", &amqp.ReceiverOptions{SettlementMode: amqp.ReceiverSettleModeSecond.Ptr(), Credit: 10})
		number := func(m *amqp.Message) int64 { v, _ := m.Annotations["x-opt-sequence-number"].(int64); return v }
		for want := int64(1); want <= 2; want++ {
			if err := s.Send(ctx, amqp.NewMessage([]byte("x")), nil); err != nil {
				t.Fatal(err)
			}
			m := c.next(r)
			if got := number(m); got != want {
				t.Errorf("%d, want %d", got, want)
			}
			if err := r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{UndeliverableHere: true}); err != nil { // deferred
				t.Fatal(err)
			}
		}
		if code, answer := n.ask("receive-by-sequence-number", map[string]any{"sequence-numbers": []int64{2}, "receiver-settle-mode": uint32(0)}); code != 200 {
			t.Errorf("receive: %d", code)
		} else if all, _ := n.messages(answer); len(all) != 1 || number(all[0]) != 2 {
			t.Errorf("%+v", all)
		}
		later := amqp.NewMessage([]byte("later"))
		later.Annotations = amqp.Annotations{"x-opt-scheduled-enqueue-time": time.Now().Add(time.Hour)}
		encoded, err := later.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		_, answer := n.ask("schedule-message", map[string]any{"messages": []any{map[string]any{"message": encoded, "message-id": "m"}}})
		if got, _ := answer["sequence-numbers"].([]int64); len(got) != 1 || got[0] != 3 {
			t.Errorf("scheduled: %v", answer)
		}
		_, answer = n.ask("peek-message", map[string]any{"from-sequence-number": int64(2), "message-count": int32(10)})
		if all, _ := n.messages(answer); len(all) != 1 || number(all[0]) != 3 {
			t.Errorf("peeked: %+v", all)
		}
		if code, _ := n.ask("cancel-scheduled-message", map[string]any{"sequence-numbers": []int64{3}}); code != 200 {
			t.Errorf("cancel: %d", code)
		}
	})
}
