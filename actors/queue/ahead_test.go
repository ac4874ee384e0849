package queue

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
)

// TestPeekByDeadline: the peek lists ready messages with a deadline, earliest first, equal deadlines by number, each
// once for any page size, and takes none. Messages due in one ms may need several turns.
func TestPeekByDeadline(t *testing.T) {
	c := newCore(t)
	c.turnLimit = 64
	const many = 4500
	var want []string
	put := func(name string, ttl int64) {
		c.publish(msg(name, ttl))
	}
	for i := range many {
		put(fmt.Sprint("same", i), 700_000)
	}
	put("never", -1)
	for i := range 90 {
		put(fmt.Sprint("late", i), 900_000-int64(i)*1000)
		want = append(want, fmt.Sprint("late", i))
	}
	slices.Reverse(want)
	c.get(ch1)
	same := make([]string, 0, many)
	for i := 1; i < many; i++ { // the first one was taken
		same = append(same, fmt.Sprint("same", i))
	}
	put("soon", 100)
	want = slices.Concat([]string{"soon"}, same, want)
	for _, limit := range []int{3, 999, 0} {
		rest := want
		if limit == 3 {
			rest = rest[:9]
		}
		for m := (mail.Peek{Limit: limit, Cut: -1, ByDeadline: true}); ; {
			r := c.peek(m)
			got := peeked(r)
			if len(got) == 0 || len(got) > len(rest) || !slices.Equal(got, rest[:len(got)]) {
				t.Fatalf("by %d: %v", limit, got)
			}
			if rest = rest[len(got):]; len(rest) == 0 {
				if (r.Next == nil) != (limit != 3) {
					t.Errorf("by %d: next %v", limit, r.Next)
				}
				break
			}
			m.After = *r.Next
		}
	}
}

// TestPeekByDeadlineOf: an empty queue has nothing to show, and strict mode changes nothing.
func TestPeekByDeadlineOf(t *testing.T) {
	c := newCore(t, strict)
	if r := c.peek(mail.Peek{Cut: -1, ByDeadline: true}); len(r.Messages) != 0 || r.Next != nil {
		t.Errorf("%+v", r)
	}
	c.publish(msg("1", -1), msg("2", 500), msg("3", 50))
	c.at(100)
	c.want("strict", peeked(c.peek(mail.Peek{Cut: -1, ByDeadline: true})), "3", "2")
}

// TestLeaseShowsUses_LEASE4: a lease shows what renewed it last, and when.
func TestLeaseShowsUses_LEASE4(t *testing.T) {
	c := newCore(t, expires(1000), func(s *policies.QueueSettings) {
		s.RenewedBy = policies.RenewedByPublish | policies.RenewedByPeek | policies.RenewedByUpdate
	})
	lease := func() mail.Lease {
		c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}})
		return one[*mail.QueueInfo](c).Lease
	}
	check := func(by string, at int64, held bool) {
		t.Helper()
		want := mail.Lease{Period: 1000, Renewed: start + at, By: by, Ends: start + at + 1000}
		if held {
			want.Ends = 0
		}
		if got := lease(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	check("start", 0, false)
	c.at(100)
	c.feed(&mail.DeclareQueue{Request: mail.Request{ReplyTo: ch1}, Passive: true})
	check("declare", 100, false)
	c.at(200)
	c.put("1")
	check("publish", 200, false)
	c.at(300)
	c.peek(mail.Peek{})
	check("peek", 300, false)
	c.at(400)
	c.get(ch1)
	check("get", 400, false)
	c.at(500)
	c.feed(&mail.ChannelGone{Channel: ch1})
	check("channel", 500, false)
	c.at(600)
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	check("update", 600, false)
	c.at(700)
	c.feed(&mail.Consume{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Tag: "a"})
	check("update", 600, true)
	c.at(800)
	c.feed(&mail.CancelConsumer{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Tag: "a"})
	check("consumer", 800, false)
	c.at(900)
	c.feed(&mail.Configure{Settings: c.Settings})
	check("policy", 900, false)
	none := c.Settings
	none.Expires = -1
	c.feed(&mail.Configure{Settings: none})
	if l := lease(); l != (mail.Lease{}) {
		t.Errorf("%+v without a lease", l)
	}
}
