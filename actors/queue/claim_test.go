package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// TestClaim: claimed messages are not delivered, and cannot be returned like a consumer's deliveries; they are removed, or put
// back at their positions unchanged.
func TestClaim(t *testing.T) {
	c := newCore(t)
	c.put("1", "2", "3")
	c.feed(&mail.Claim{Request: mail.Request{ReplyTo: ch1}, Limit: 2})
	got := one[*mail.ClaimReply](c)
	if len(got.Messages) != 2 || string(got.Messages[0].Message.Body) != "1" || got.Messages[0].Number == 0 || !got.More {
		t.Fatalf("%+v", got)
	}
	c.want("left", c.ready(), "3")
	for _, d := range c.locks(0, 0).Deliveries {
		if c.takeBack(d.Seq) {
			t.Errorf("%d was returned in the middle of a move", d.Seq)
		}
	}
	c.settle(ch1, mail.Ack, got.Messages[1].Number, got.Messages[1].Number)
	c.settle(ch1, mail.PutBack, got.Messages[0].Number, got.Messages[0].Number)
	c.want("back", c.ready(), "1", "3")
	c.consume(ch2, "a", 0)
	c.want("as it was", c.delivered("a"), "1", "3")
}

// TestClaimTransient: a claimed message has the delivery mode with which it was published, whether it is stored or was
// only paged out.
func TestClaimTransient(t *testing.T) {
	for _, kind := range []store.Kind{store.Put, store.Spill} {
		for _, mode := range []byte{1, 2} {
			c := recovered(t, settings(), false, store.Recovered{Deadline: store.Never, TTL: -1})
			r := c.disk.puts[1]
			r.Kind, r.Header = kind, []byte{0x10, 0, mode}
			c.disk.puts[1] = r
			c.feed(&mail.Claim{Request: mail.Request{ReplyTo: ch1}, Limit: 1})
			if got := one[*mail.ClaimReply](c).Messages; len(got) != 1 || got[0].Message.Persistent() != (mode == 2) {
				t.Errorf("%d, mode %d: %+v", kind, mode, got)
			}
		}
	}
}
