package queue

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

func priorities(n uint8) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.MaxPriority = n }
}

// of returns a message with a priority.
func of(priority uint8, body string, ttl int64) message.Message {
	m := msg(body, ttl)
	m.Priority = priority
	return m
}

// TestPriorityOrder_DEC11: higher priorities come first, equal ones in order of arrival; priorities above the maximum count as
// the maximum.
func TestPriorityOrder_DEC11(t *testing.T) {
	for _, x := range []struct {
		max  uint8
		want string
	}{
		{0, "[a255 b0 c3 d9 e3 f0]"},
		{1, "[a255 c3 d9 e3 b0 f0]"},
		{3, "[a255 c3 d9 e3 b0 f0]"},
		{9, "[a255 d9 c3 e3 b0 f0]"},
		{255, "[a255 d9 c3 e3 b0 f0]"},
	} {
		c := newCore(t, priorities(x.max))
		c.publish(of(255, "a255", -1), of(0, "b0", -1), of(3, "c3", -1), of(9, "d9", -1), of(3, "e3", -1), of(0, "f0", -1))
		if got := fmt.Sprint(c.ready()); got != x.want {
			t.Errorf("max %d: %s", x.max, got)
		}
		c.get(ch1)
		c.get(ch1)
		c.settle(ch1, mail.Requeue, 1, 2)
		if got := fmt.Sprint(c.ready()); got != x.want {
			t.Errorf("max %d, after a requeue: %s", x.max, got)
		}
	}
}

// TestPriorityOfQuorumQueue_DEC11: 0 to 4 are one priority, 5 to 31 are separate ones, and higher ones count as 31.
func TestPriorityOfQuorumQueue_DEC11(t *testing.T) {
	c := newQuorum(t)
	for i, p := range []uint8{0, 4, 5, 1, 31, 9, 255, 4} {
		c.publish(of(p, fmt.Sprint(p, " ", i), -1))
	}
	want := []string{"31 4", "255 6", "9 5", "5 2", "0 0", "4 1", "1 3", "4 7"}
	c.want("ready", c.ready(), want...)
	c.get(ch1)
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 1, 2)
	c.want("after a requeue", c.ready(), want...)
}

// TestPriorityExpiry_TTL30: messages expire at any position of any priority.
func TestPriorityExpiry_TTL30(t *testing.T) {
	c := newCore(t, priorities(255), dlx)
	for p := range 256 {
		c.publish(of(uint8(p), fmt.Sprint(p), 1000-int64(p)), of(uint8(p), fmt.Sprint("stays", p), -1))
	}
	for p := 255; p >= 0; p-- {
		c.at(int64(1000 - p))
		c.want("dead", c.seenOff(), fmt.Sprint("expired ", p))
	}
	if c.Backlog.Ready() != 256 {
		t.Errorf("%d are left", c.Backlog.Ready())
	}
}

// TestPriorityExpiry_TTL19: in strict mode a message expires only at the head of the highest priority with messages.
func TestPriorityExpiry_TTL19(t *testing.T) {
	c := newCore(t, priorities(3), strict, dlx)
	c.publish(of(1, "low", 10), of(3, "high", 50), of(3, "behind", 20))
	c.at(49)
	c.want("dead", c.seenOff())
	c.at(50)
	c.want("dead", c.seenOff(), "expired high", "expired behind", "expired low")
}

// TestPriorityLimit_DL12: the head is dropped, which has the highest priority, as in RabbitMQ.
func TestPriorityLimit_DL12(t *testing.T) {
	c := newCore(t, priorities(5), maxLength(2, "drop-head"), dlx)
	c.publish(of(1, "a", -1), of(5, "b", -1), of(5, "c", -1), of(0, "d", -1))
	c.want("ready", c.ready(), "a", "d")
	c.want("dead", c.seenOff(), "maxlen b", "maxlen c")
}

// TestRequeueAboveTheLimit_DL10: a queue that rejects publishes does not drop accepted messages.
func TestRequeueAboveTheLimit_DL10(t *testing.T) {
	for _, overflow := range []string{"reject-publish", "reject-publish-dlx"} {
		c := newCore(t, maxLength(1, overflow), dlx)
		c.put("a")
		c.get(ch1)
		c.put("b")
		c.settle(ch1, mail.Requeue, 1, 1)
		c.want("ready", c.ready(), "a", "b")
		c.confirmed()
		c.put("c")
		_, nacks := c.confirmed()
		c.wantNumbers("nacks", nacks, 3)
		c.feed(&mail.Configure{Settings: settings(maxLength(0, overflow), dlx)})
		c.want("a policy that lowers the limit", c.ready(), "a", "b")
	}
}
