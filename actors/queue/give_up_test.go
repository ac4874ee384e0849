package queue

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
)

// TestCancelRequeues_LOCK9: the deliveries of a cancelled consumer are requeued before the next consumer gets messages,
// except deliveries that its channel keeps; deliveries of others are not affected.
func TestCancelRequeues_LOCK9(t *testing.T) {
	for _, most := range []uint16{1, 100} { // in several turns, or in one
		c := newCore(t, single)
		c.turnLimit = most
		c.put(bodies(1, 300)...)
		c.consume(ch1, "a", 200)
		c.consume(ch2, "b", 0)
		c.settle(ch1, mail.Ack, 1, 1)
		c.want("a", c.delivered("a"), bodies(1, 201)...)
		c.want("b", c.delivered("b"))
		c.get(ch1)
		c.feed(&mail.CancelConsumer{Request: mail.Request{ReplyTo: ch1, ID: 7}, Channel: ch1, Tag: "a", Requeue: true, Except: []uint64{3, 200}})
		if r := one[*mail.CancelConsumerReply](c); r.ID != 7 || r.Tag != "a" {
			t.Errorf("%+v", r)
		}
		var want []string
		for i := 2; i <= 300; i++ {
			switch {
			case i == 3 || i == 200 || i == 202: // kept, and the one from basic.get
			case i <= 201:
				want = append(want, fmt.Sprint(i)+"*")
			default:
				want = append(want, fmt.Sprint(i))
			}
		}
		c.want("b is next", c.delivered("b"), want...)
		c.settle(ch1, mail.Ack, 1, 300)
		if n := c.consumers.Unacked(); n != len(want) {
			t.Errorf("%d unacked, want %d", n, len(want))
		}
		c.feed(&mail.CancelConsumer{Channel: ch2, Tag: "b", Requeue: true}, &mail.CancelConsumer{Channel: ch2, Tag: "b", Requeue: true})
		if n := len(c.ready()); n != len(want) || c.consumers.Unacked() != 0 {
			t.Errorf("%d ready, want %d", n, len(want))
		}
	}
}
