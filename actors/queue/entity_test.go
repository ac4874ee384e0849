package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/policies"
	"candlemark/protocol"
)

func dropExpired(s *policies.QueueSettings) { s.DropExpired = true }
func stampExpiry(s *policies.QueueSettings) { s.StampExpiry = true }
func expiresAt(s *policies.QueueSettings)   { s.ExpiresAtHeader = "expires" }

// headed returns a message with one header.
func headed(body string, ttl int64, name string, v any) message.Message {
	m := msg(body, ttl)
	p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{{Key: name, Value: v}}}
	m.Header = p.Append(nil)
	return m
}

// TestDropExpired_DL9: with dead-letter-expired false, expired messages are dropped, and all others are still dead-lettered.
func TestDropExpired_DL9(t *testing.T) {
	c := newCore(t, ttl(100), dlx, dropExpired, maxLength(2, "drop-head"))
	c.put("a", "b", "c")
	c.want("over the limit", c.seenOff(), "maxlen a")
	c.get(ch1)
	c.settle(ch1, mail.Reject, 1, 1)
	c.want("rejected", c.seenOff(), "rejected b")
	c.get(ch1)
	c.at(100)
	c.settle(ch1, mail.Requeue, 2, 2) // past its deadline
	c.put("d")
	c.at(200)
	c.publish(msg("now or never", 0))
	c.want("expired", c.seenOff())
	if c.Backlog.Len() != 0 {
		t.Errorf("%d messages left", c.Backlog.Len())
	}
}

// TestDropExpired_LEASE13: the backlog of a queue whose lease ends is still dead-lettered, if the settings say so.
func TestDropExpired_LEASE13(t *testing.T) {
	c := newCore(t, expires(100), dlx, dropExpired, func(s *policies.QueueSettings) { s.ExpiresDeadLettersBacklog = true })
	c.put("m")
	c.at(100)
	c.vhostAnswers()
	c.want("backlog", c.seenOff(), "expired m")
}

// TestDropExpiredByPolicy_POL9: the setting at the time of expiry applies to queued messages.
func TestDropExpiredByPolicy_POL9(t *testing.T) {
	c := newCore(t, ttl(100), dlx)
	c.put("a")
	c.feed(&mail.Configure{Settings: settings(ttl(100), dlx, dropExpired)})
	c.at(100)
	c.want("dropped", c.seenOff())
	c.put("b")
	c.feed(&mail.Configure{Settings: settings(ttl(100), dlx)})
	c.at(200)
	c.want("dead-lettered", c.seenOff(), "expired b")
}

// TestExpiresAtHeader_TTL9: the header counts like the other TTLs; the lowest applies.
func TestExpiresAtHeader_TTL9(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    message.Message
		want int64 // ms; -1 none
	}{
		{"ms", headed("m", -1, "expires", int64(start+300)), 300},
		{"ms as text", headed("m", -1, "expires", "1800000000300"), 300},
		{"timestamp", headed("m", -1, "expires", protocol.Timestamp(start/1000+2)), 2000},
		{"RFC 3339", headed("m", -1, "expires", "2027-01-15T08:00:01.5Z"), 1500},
		{"own expiration is shorter", headed("m", 200, "expires", int64(start+300)), 200},
		{"own expiration is longer", headed("m", 400, "expires", int64(start+300)), 300},
		{"the queue's is shorter", headed("m", -1, "expires", int64(start+9000)), 5000},
		{"in 10,000 years", headed("m", -1, "expires", "9999-12-31T23:59:59Z"), 5000},
		{"another header", headed("m", -1, "expires-not", int64(start+300)), 5000},
		{"no header", msg("m", -1), 5000},
		{"nothing in it, as Celery sends", headed("m", -1, "expires", nil), 5000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCore(t, ttl(5000), dlx, expiresAt)
			c.publish(tt.m)
			c.at(tt.want - 1)
			c.want("1 ms before", c.ready(), "m")
			c.at(tt.want)
			c.want("at the deadline", c.ready())
			c.want("dead", c.seenOff(), "expired m")
		})
	}
}

// TestExpiresAtHeaderInThePast_TTL17: unlike with a TTL of 0, the message is not delivered at all.
func TestExpiresAtHeaderInThePast_TTL17(t *testing.T) {
	for name, at := range map[string]int64{"now": start, "before": start - 1, "in 1969": -1} {
		c := newCore(t, dlx, expiresAt)
		c.consume(ch1, "a", 10)
		c.consume(ch1, "b", 0, noAck)
		c.publish(headed("m", -1, "expires", at), headed("n", -1, "expires", at))
		c.want(name, c.delivered("a"))
		c.want(name, c.delivered("b"))
		c.want(name, c.seenOff(), "expired m", "expired n")
		if acks, nacks := c.confirmed(); len(acks) != 2 || len(nacks) > 0 {
			t.Errorf("%s: acks %v, nacks %v", name, acks, nacks)
		}
	}
}

// TestExpiresAtHeaderOfDeadLetters_DL17: the header does not apply to dead letters, nor does the expiration.
func TestExpiresAtHeaderOfDeadLetters_DL17(t *testing.T) {
	c := newCore(t, expiresAt)
	m := headed("m", -1, "expires", int64(start-5))
	m.Overlay = m.Overlay.Died(message.Death{Queue: "source", Reason: "expired"})
	c.publish(m)
	c.want("stays", c.ready(), "m")
}

// TestExpiresAtHeader_ADR19: the header refers to the wall clock, even if that was set since the broker started.
func TestExpiresAtHeader_ADR19(t *testing.T) {
	c := newCore(t, dlx, expiresAt, stampExpiry)
	c.Dates = clock.Ahead(3_600_000) // the clock was set an hour ahead
	c.publish(headed("m", -1, "expires", int64(start+3_600_000+300)))
	c.at(200)
	r := c.get(ch1)
	if got := stamps(t, r.Delivery); got != [2]any{int64(start + 3_600_000), int64(start + 3_600_300)} {
		t.Errorf("stamps %v", got)
	}
	c.settle(ch1, mail.Requeue, 1, 1)
	c.at(300)
	c.want("dead", c.seenOff(), "expired m")
}

// TestExpiresAtHeaderKept_TTL25: a retroactive TTL does not extend the header's deadline.
func TestExpiresAtHeaderKept_TTL25(t *testing.T) {
	retroactive := func(s *policies.QueueSettings) { s.RetroactiveTTL = true }
	c := newCore(t, expiresAt, ttl(100), retroactive)
	c.publish(headed("m", -1, "expires", int64(start+300)))
	c.feed(&mail.Configure{Settings: settings(ttl(9000), retroactive)})
	c.at(299)
	c.want("before", c.ready(), "m")
	c.at(300)
	c.want("at its deadline", c.ready())
}

// stamps returns the headers x-enqueued-at and x-expires-at of a delivery.
func stamps(t *testing.T, d mail.Delivery) (found [2]any) {
	t.Helper()
	all := headers(t, &d.Message)
	found[0], _ = all.Get("x-enqueued-at")
	found[1], _ = all.Get("x-expires-at")
	return found
}

// TestStampExpiry_TTL11: deliveries carry both times in ms, which replace headers of the same names; the rest is unchanged.
func TestStampExpiry_TTL11(t *testing.T) {
	c := newCore(t, stampExpiry)
	c.at(40)
	c.publish(msg("ttl", 500), headed("none", -1, "x-expires-at", "forged"))
	c.at(50)
	for i, want := range [][2]any{{int64(start + 40), int64(start + 540)}, {int64(start + 40), nil}} {
		if got := stamps(t, c.get(ch1).Delivery); got != want {
			t.Errorf("get %d: %v, want %v", i, got, want)
		}
	}
	c.settle(ch1, mail.Requeue, 1, 1)
	c.consume(ch1, "a", 1)
	if got := stamps(t, one[*mail.Deliver](c).Items[0]); got != [2]any{int64(start + 40), int64(start + 540)} {
		t.Errorf("redelivered: %v", got)
	}
	c.consume(ch2, "b", 0, noAck)
	c.publish(msg("passed on", 7))
	if got := stamps(t, one[*mail.Deliver](c).Items[0]); got != [2]any{int64(start + 50), int64(start + 57)} {
		t.Errorf("passed on: %v", got)
	}
	c.feed(&mail.Configure{Settings: settings()})
	c.put("unstamped")
	if d := one[*mail.Deliver](c).Items[0]; d.Message.Overlay != nil {
		t.Errorf("switched off: %v", stamps(t, d))
	}
}
