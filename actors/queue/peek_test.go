package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// peek sends a peek and takes the answer, which may wait for the disk.
func (c *core) peek(m mail.Peek) *mail.PeekReply {
	c.t.Helper()
	m.ReplyTo = ch1
	c.feed(&m)
	return one[*mail.PeekReply](c)
}

// peeked formats the messages of an answer: body, * for redelivered, ! for unacknowledged, ? for unreadable.
func peeked(r *mail.PeekReply) (texts []string) {
	for _, m := range r.Messages {
		text := string(m.Body)
		if m.Redelivered {
			text += "*"
		}
		if m.State == mail.Unacked {
			text += "!"
		}
		if m.Unreadable {
			text += "?"
		}
		texts = append(texts, text)
	}
	return texts
}

// everything returns the full description of a queue.
func (c *core) everything() string {
	c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}, Consumers: true})
	info := one[*mail.QueueInfo](c)
	times := fmt.Sprintf("%+v %+v", info.Wait, info.Processing)
	info.Wait, info.Processing = nil, nil               // pointers would differ
	info.OldestReady.Age, info.OldestMessage.Age = 0, 0 // they grow
	return fmt.Sprintf("%+v %s", info, times)
}

// TestPeekChangesNothing_LEASE4: a peek takes, marks and counts nothing, and does not renew the lease.
func TestPeekChangesNothing_LEASE4(t *testing.T) {
	c := newCore(t, expires(1000))
	c.put("1", "2", "3", "4")
	c.get(ch1)
	c.get(ch2)
	c.feed(&mail.ChannelGone{Channel: ch2})
	before := c.everything()
	c.at(500)
	for range 3 {
		c.want("peeked", peeked(c.peek(mail.Peek{Cut: -1})), "1!", "2*", "3", "4")
		c.want("ready", peeked(c.peek(mail.Peek{Cut: -1, States: mail.Ready})), "2*", "3", "4")
		c.want("unacked", peeked(c.peek(mail.Peek{Cut: -1, States: mail.Unacked})), "1!")
		c.want("cut", peeked(c.peek(mail.Peek{Cut: 0})), "!", "*", "", "")
	}
	if after := c.everything(); after != before {
		t.Errorf("\n%s\n%s", before, after)
	}
	c.at(1000)
	one[*mail.QueueRetiring](c)
}

// TestPeekShowsDeadlines_TTL9: deadlines are shown, also for unacked messages; without one, 0 is shown.
func TestPeekShowsDeadlines_TTL9(t *testing.T) {
	c := newCore(t, timeout(70))
	c.publish(msg("1", 50), msg("2", -1))
	c.at(10)
	c.get(ch1)
	got := c.peek(mail.Peek{Cut: -1}).Messages
	if m := got[0]; m.State != mail.Unacked || m.Expires != start+50 || m.Enqueued != start || m.Locked != start+80 || m.Size != 1 || m.RoutingKey != "k" {
		t.Errorf("%+v", m)
	}
	if m := got[1]; m.State != mail.Ready || m.Expires != 0 || m.Locked != 0 || m.Seq <= got[0].Seq {
		t.Errorf("%+v", m)
	}
}

// TestPeekExpiresNothing_TTL18: in strict mode a message behind the head stays, and is shown with its past deadline.
func TestPeekExpiresNothing_TTL18(t *testing.T) {
	c := newCore(t, strict)
	c.publish(msg("1", -1), msg("2", 50))
	c.at(100)
	r := c.peek(mail.Peek{Cut: -1})
	c.want("peeked", peeked(r), "1", "2")
	if r.Messages[1].Expires != start+50 {
		t.Errorf("%+v", r.Messages[1])
	}
}

// TestPeekPages: paging shows every message once, in queue order.
func TestPeekPages(t *testing.T) {
	c := newCore(t, func(s *policies.QueueSettings) { s.MaxPriority = 5 })
	var want []string
	for priority := 5; priority >= 0; priority-- {
		for i := range 40 {
			want = append(want, fmt.Sprint(priority, "-", i))
		}
	}
	for i := range 40 {
		for priority := range 6 {
			m := msg(fmt.Sprint(priority, "-", i), -1)
			m.Priority = uint8(priority)
			c.publish(m)
		}
	}
	for range 50 {
		c.get(ch1)
	}
	for i := range 50 {
		want[i] += "!"
	}
	for _, limit := range []int{1, 7, 50, 240, 241, 0} {
		var got []string
		for m := (mail.Peek{Limit: limit, Cut: -1}); ; {
			r := c.peek(m)
			if limit > 0 && len(r.Messages) > limit || len(r.Messages) == 0 {
				t.Fatalf("%d of %d", len(r.Messages), limit)
			}
			got = append(got, peeked(r)...)
			if r.Next == nil {
				break
			}
			m.After = *r.Next
		}
		c.want(fmt.Sprint("by ", limit), got, want...)
	}
	if r := c.peek(mail.Peek{After: mail.Cursor{Seq: 1 << 63, Due: 0}, Limit: 3}); len(r.Messages) != 3 {
		t.Errorf("a place between priorities: %d", len(r.Messages))
	}
}

// TestPeekBytes: the bytes of an answer are limited; the rest follows on the next page.
func TestPeekBytes(t *testing.T) {
	c := newCore(t)
	large := strings.Repeat("x", mail.PeekBytes/2+1)
	c.put(large, large, large, "4")
	r := c.peek(mail.Peek{Cut: -1})
	if len(r.Messages) != 2 || r.Next == nil {
		t.Fatalf("%d", len(r.Messages))
	}
	c.want("rest", peeked(c.peek(mail.Peek{Cut: 1, After: *r.Next})), "x", "4")
	if r := c.peek(mail.Peek{Cut: 1}); len(r.Messages) != 4 || r.Messages[0].Size != int64(len(large)) {
		t.Errorf("%d", len(r.Messages))
	}
}

// TestPeekPagedOut: contents are read for the answer and stay paged out.
func TestPeekPagedOut(t *testing.T) {
	c := pressedCore(t)
	c.trust(-1, "1", "2", "3", "4", "5")
	if c.Backlog.Paged() != 5 {
		t.Fatalf("%d are paged out", c.Backlog.Paged())
	}
	c.want("peeked", peeked(c.peek(mail.Peek{Cut: -1, Limit: 3})), "1", "2", "3")
	if c.Backlog.Paged() != 5 || c.Counts.Damaged != 0 {
		t.Errorf("%d are paged out", c.Backlog.Paged())
	}
	c.damage("2", store.ErrDamaged)
	c.damage("3", store.ErrUnknown)
	r := c.peek(mail.Peek{Cut: 0})
	c.want("damaged", peeked(r), "", "?", "", "")
	if c.Counts.Damaged != 0 || c.Backlog.Len() != 5 || r.Messages[1].Expires != 0 || r.Messages[1].Size != 1 {
		t.Errorf("%+v", r.Messages[1])
	}
}

// TestPeekWhileTheQueueEnds_LEASE7: a peek that waits for the disk is answered when the queue ends.
func TestPeekWhileTheQueueEnds_LEASE7(t *testing.T) {
	c := pressedCore(t)
	c.trust(-1, "1")
	c.disk.late = true
	c.feed(&mail.Peek{Request: mail.Request{ReplyTo: ch1}})
	c.feed(&mail.DeleteQueue{Connection: owner}, &mail.QueueForgotten{})
	c.disk.late = false
	c.arrive()
	if r := one[*mail.PeekReply](c); code(r.Err) != "NOT_FOUND - no queue '' in vhost ''" {
		t.Errorf("%+v", r)
	}
}

// TestPeekShowsWhatConsumersGet_DL9: the header is shown with the broker's additions.
func TestPeekShowsWhatConsumersGet_DL9(t *testing.T) {
	c := newQuorum(t)
	c.put("1")
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 1, 1)
	m := c.peek(mail.Peek{}).Messages[0]
	p, err := protocol.DecodeProperties(m.Header)
	if n, _ := p.Headers.Get("x-delivery-count"); err != nil || fmt.Sprint(n) != "1" || m.Returns.Failed() != 1 || !m.Redelivered {
		t.Errorf("%v, %+v", p.Headers, m)
	}
}

// TestPeekManyUnacked: paging works with very many unacked messages.
func TestPeekManyUnacked(t *testing.T) {
	c := newCore(t)
	c.put(bodies(0, 2999)...)
	var want []string
	for i := range 3000 {
		c.get([]mail.Address{ch1, ch2}[i%2])
		if i >= 100 && i < 110 {
			want = append(want, fmt.Sprint(i)+"!")
		}
	}
	r := c.peek(mail.Peek{Limit: 100})
	got := peeked(c.peek(mail.Peek{Limit: 10, Cut: -1, After: *r.Next}))
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPeekScheduled_DLY11: scheduled messages are shown after all others, in the order of release, with due times and without
// deadlines, in memory or paged out.
func TestPeekScheduled_DLY11(t *testing.T) {
	for name, c := range map[string]*core{"in memory": newCore(t, delaying), "paged out": pressedCore(t, delaying)} {
		c.publish(withTTL(heldBack("b", 2000), 50), heldBack("a", 1000), heldBack("c", 2000))
		c.put("1", "2")
		c.get(ch1)
		want := []string{"1!", "2", "a", "b", "c"}
		for _, limit := range []int{1, 2, 3, 5, 0} {
			var got []string
			for m := (mail.Peek{Limit: limit, Cut: -1}); ; {
				r := c.peek(m)
				got = append(got, peeked(r)...)
				if r.Next == nil {
					break
				}
				m.After = *r.Next
			}
			c.want(fmt.Sprint(name, " by ", limit), got, want...)
		}
		m := c.peek(mail.Peek{States: mail.Scheduled}).Messages[1]
		if m.State != mail.Scheduled || m.Due != start+2000 || m.Expires != 0 || m.Enqueued != start || m.Locked != 0 || m.Returns.Failed() != 0 || m.Redelivered {
			t.Errorf("%s: %+v", name, m)
		}
		c.at(999)
		if r := c.peek(mail.Peek{States: mail.Ready, Cut: -1}); len(r.Messages) != 1 {
			t.Errorf("%s: %q", name, peeked(r))
		}
		c.at(1000)
		c.want(name, peeked(c.peek(mail.Peek{States: mail.Ready, Cut: -1})), "2", "a")
	}
}
