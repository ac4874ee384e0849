package queue

import (
	"testing"

	"candlemark/actors/system/mail"
)

func credited(m *mail.Consume) { m.Credited = true }

func (c *core) credit(tag string, count, credit uint32, drain bool) {
	c.feed(&mail.SetLinkCredit{Channel: ch1, Tag: tag, DeliveryCount: count, Credit: credit, Drain: drain})
}

// A consumer with link credit gets the deliveries that it allows, counted from the delivery count that the client knows.
func TestCredit(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "link", 0, credited)
	c.put("1", "2", "3", "4", "5", "6")
	c.want("without credit", c.delivered("link"))
	c.credit("link", 0, 2, false)
	c.want("2", c.delivered("link"), "1", "2")
	c.credit("link", 0, 3, false) // sent before the client knew of these deliveries
	c.want("1 more", c.delivered("link"), "3")
	c.credit("link", 0, 1, false) // less than was used already
	c.want("none", c.delivered("link"))
	c.credit("link", 3, 0, false)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.want("what came back", c.delivered("link"))
	c.credit("link", 3, 1, false)
	c.want("in its position", c.delivered("link"), "1*")
}

// A consumer with link credit takes turns with others, including consumers without link credit.
func TestCredit_Fairness(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "link", 0, credited, noAck)
	c.consume(ch1, "other", 0, noAck)
	c.credit("link", 0, 2, false)
	c.put("1", "2", "3", "4", "5")
	c.want("link", c.delivered("link"), "2", "4")
	c.want("other", c.delivered("other"), "1", "3", "5")
}

// A drain uses up the credit left when no message is ready, and is answered after the deliveries; credit given after that is not
// used up.
func TestCredit_Drain(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "link", 0, credited)
	c.put("1", "2")
	c.credit("link", 0, 10, true)
	c.want("all", c.delivered("link"), "1", "2")
	if d := one[*mail.CreditTaken](c); d.Tag != "link" || d.DeliveryCount != 10 || d.Queue == nil {
		t.Errorf("%+v", d)
	}
	c.put("3")
	c.want("no credit left", c.delivered("link"))
	c.credit("link", 10, 1, false)
	c.want("3", c.delivered("link"), "3")
	c.credit("link", 11, 5, true)
	if d := one[*mail.CreditTaken](c); d.DeliveryCount != 16 {
		t.Errorf("%+v", d)
	}
	c.credit("link", 0xffff_fff0, 0x30, false) // modulo 2^32: 16 more
	c.put(bodies(1, 20)...)
	if n := len(c.delivered("link")); n != 16 {
		t.Errorf("%d deliveries", n)
	}
	c.credit("link", 32, 0xffff_ffff, false) // the maximum
	if n := len(c.delivered("link")); n != 4 {
		t.Errorf("%d deliveries", n)
	}
}

// The answer to an echo has the number of messages still ready after the deliveries of the credit; without an echo there is none.
func TestCredit_Available(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "link", 0, credited)
	c.put("1", "2", "3", "4")
	c.feed(&mail.SetLinkCredit{Channel: ch1, Tag: "link", Credit: 1, Echo: true})
	c.want("one", c.delivered("link"), "1")
	if got := one[*mail.CreditTaken](c); got.Available != 3 || got.Drained || got.Tag != "link" || got.Queue == nil {
		t.Errorf("%+v", got)
	}
	c.credit("link", 1, 1, false)
	if got := all[*mail.CreditTaken](c); len(got) != 0 {
		t.Errorf("nobody asked: %+v", got)
	}
	c.credit("link", 2, 1, true)
	if got := one[*mail.CreditTaken](c); got.Available != 1 || !got.Drained {
		t.Errorf("%+v", got)
	}
}

// A message that expires while the consumer has no credit is never delivered.
func TestCredit_Expired(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "link", 0, credited)
	c.publish(msg("late", 1000))
	c.at(1000)
	c.credit("link", 0, 1, true)
	c.want("nothing", c.delivered("link"))
	if d := one[*mail.CreditTaken](c); d.DeliveryCount != 1 {
		t.Errorf("%+v", d)
	}
}
