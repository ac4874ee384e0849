package republish_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/rules"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// forwarding returns n messages that a queue forwards to the exchange "crowd".
func forwarding(from *probe, first uint64, n int) *mail.DeadLetter {
	d := pendingMessage(from, "forwarded", "crowd", first, n)
	d.Forward, d.Guarantee = true, mail.AtLeastOnce
	return d
}

// TestDL32_CopiesAreDivided: the copies that a message may still have are divided among its targets; messages alike
// share the overlay. A single target costs nothing, and copies taken earlier count.
func TestDL32_CopiesAreDivided(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, crowd := h.queue("source"), h.crowd(3)
		h.exchange(&topology.Exchange{Name: "one", Type: "fanout"}, "", "", crowd[0])
		h.send(forwarding(source, 1, 2))
		var shared *message.Overlay
		for _, p := range crowd {
			e := take[*mail.Enqueue](h, p)
			for i := range e.Messages {
				o := e.Messages[i].Overlay
				if shared == nil {
					shared = o
				}
				if o != shared || !o.Copied || o.Copies != (16384-2)/3 || o.Hops != 1 {
					t.Errorf("%+v", o)
				}
			}
			h.answer(e, false)
		}
		take[*mail.DeadLetterReply](h, source)
		for _, row := range []struct {
			before *message.Overlay
			taken  int
			want   uint32
		}{{nil, 0, 16384}, {shared, 0, shared.Copies}, {shared, 1, (shared.Copies - 1) / 2}} {
			d := pendingMessage(source, "expired", "one", 1, 1)
			d.Messages[0].Overlay = row.before
			for i := range row.taken {
				d.Taken = map[uint64][]mail.Target{1: {{Actor: fmt.Sprint("other", i)}}}
			}
			h.send(d)
			if m := &take[*mail.Enqueue](h, crowd[0]).Messages[0]; m.Copies() != row.want {
				t.Errorf("%+v: %d copies left", row, m.Copies())
			}
		}
	})
}

// TestDL32_Exceeded: a message that would have too many copies is not sent anywhere: a forwarded message returns to its
// queue, with any guarantee, and any other message is dropped. A rejection starts the count anew. One line is logged in
// a minute.
func TestDL32_Exceeded(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, crowd := h.queue("source"), h.crowd(3)
		spent := (&message.Overlay{}).WithCopies(1)
		for round := range 3 {
			d := forwarding(source, 1, 2)
			d.Messages[0].Overlay, d.Messages[1].Overlay = spent, spent
			h.send(d)
			if r := take[*mail.DeadLetterReply](h, source); !slices.Equal(r.Exceeded, []uint64{1, 2}) || len(r.IDs)+len(r.Retained) > 0 {
				t.Errorf("%+v", r)
			}
			for _, guarantee := range []mail.Guarantee{mail.Drop, mail.AtLeastOnce} {
				d = pendingMessage(source, "expired", "crowd", 3, 1)
				d.Messages[0].Overlay, d.Guarantee = spent, guarantee
				h.send(d)
				h.settled(source, mail.Range{First: 3, Last: 3})
			}
			if n := strings.Count(h.log.String(), "too many copies"); n != 1+round/2 {
				t.Errorf("round %d: %d lines: %s", round, n, h.log.String())
			}
			time.Sleep(31 * time.Second)
		}
		if !strings.Contains(h.log.String(), `"not_logged":7`) {
			t.Error(h.log.String())
		}
		for _, p := range crowd {
			h.nothing(p)
		}
		if f, e := h.stats.Forwarded.Exceeded.Load(), h.stats.Expired.Exceeded.Load(); f != 6 || e != 6 {
			t.Errorf("%d forwarded, %d expired", f, e)
		}
		d := pendingMessage(source, "rejected", "crowd", 4, 1)
		d.Messages[0].Overlay, d.Messages[0].Spread = spent, 20
		h.send(d)
		if m := &take[*mail.Enqueue](h, crowd[2]).Messages[0]; m.Copies() != (16384-2)/3 {
			t.Errorf("%d copies left", m.Copies())
		}
	})
}

// TestDL32_ReleaseIsAPublish: the queues to which a delayed exchange releases a message count like the queues of a
// publish, unless the message was copied before.
func TestDL32_ReleaseIsAPublish(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, crowd := h.queue("source"), h.crowd(100)
		release := func(o *message.Overlay) *mail.DeadLetter {
			d := pendingMessage(source, "delayed", "crowd", 1, 1)
			d.Release, d.Messages[0].Overlay = true, o
			return d
		}
		h.send(release(nil))
		if m := &take[*mail.Enqueue](h, crowd[99]).Messages[0]; m.Copies() != message.CopiesOf(message.SpreadOf(100)) || m.Overlay.Copied {
			t.Errorf("%d copies left", m.Copies())
		}
		h.send(release((&message.Overlay{}).WithCopies(99)))
		if m := &take[*mail.Enqueue](h, crowd[99]).Messages[0]; m.Copies() != 0 {
			t.Errorf("%d copies left", m.Copies())
		}
		h.send(release((&message.Overlay{}).WithCopies(98)))
		h.settled(source, mail.Range{First: 1, Last: 1})
	})
}

// TestDL33_CopiesWait: while memory is scarce, messages for several queues wait, with all of their queue behind them;
// messages for one queue do not. One line is logged.
func TestDL33_CopiesWait(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, other, crowd := h.queue("source"), h.queue("other"), h.crowd(2)
		h.exchange(&topology.Exchange{Name: "one", Type: "fanout"}, "", "", crowd[0])
		h.scarce(true)
		h.send(forwarding(source, 1, 100), pendingMessage(source, "expired", "one", 101, 1), pendingMessage(other, "expired", "one", 1, 3), forwarding(other, 4, 1))
		if e := take[*mail.Enqueue](h, crowd[0]); len(e.Messages) != 3 {
			t.Errorf("%d messages for one queue", len(e.Messages))
		}
		h.nothing(crowd[0])
		h.nothing(crowd[1])
		h.nothing(source)
		if n := h.stats.Waiting.Load(); n != 2 {
			t.Errorf("%d sources wait", n)
		}
		if n := strings.Count(h.log.String(), "stay in their queue"); n != 1 {
			t.Errorf("%d lines: %s", n, h.log.String())
		}
		h.scarce(false)
		time.Sleep(time.Second)
		synctest.Wait()
		got := []byte{}
		for range 3 {
			e := take[*mail.Enqueue](h, crowd[0])
			for i := range e.Messages {
				got = append(got, e.Messages[i].Body[0])
			}
		}
		want := []byte{}
		for n := range byte(100) {
			want = append(want, n+1)
		}
		if i := slices.Index(got, 4); i < 0 || len(got) != 102 {
			t.Errorf("%v", got)
		}
		var source1 []byte
		for i, n := range got {
			if n != 4 || i == 3 {
				source1 = append(source1, n)
			}
		}
		if !slices.Equal(source1, append(want, 101)) {
			t.Errorf("order %v", got)
		}
		if n := h.stats.Waiting.Load(); n != 0 {
			t.Errorf("%d sources wait", n)
		}
	})
}

// TestDL33_EnlargedWait: a message for one queue whose copy an action may enlarge waits, too.
func TestDL33_EnlargedWait(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, q := h.queue("source"), h.queue("q")
		q.queue.Action = rules.Enlarging(q.queue).Action
		h.exchange(&topology.Exchange{Name: "one", Type: "fanout"}, "", "", q)
		h.scarce(true)
		h.send(pendingMessage(source, "expired", "one", 1, 1))
		h.nothing(q)
		h.scarce(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if m := take[*mail.Enqueue](h, q).Messages[0]; m.Copies() != 16384 {
			t.Errorf("%d copies are left", m.Copies())
		}
	})
}

// TestDL33_CopiesTrickle: although memory stays scarce, some copies are made each second, so that consumers that wait
// for them can continue.
func TestDL33_CopiesTrickle(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, crowd := h.queue("source"), h.crowd(11)
		h.scarce(true)
		h.send(forwarding(source, 1, 200))
		made := 0
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
			for crowd[0].waiting() > 0 {
				n := len(take[*mail.Enqueue](h, crowd[0]).Messages)
				h.held.Count(10 * int64(n)) // nobody consumes them
				made += n
			}
		}
		if made < 50 || made > 150 {
			t.Errorf("%d messages for 11 queues in ten seconds", made)
		}
	})
}

// TestDL33_Reconsidered: a message that waits is settled when its exchange or its queues go.
func TestDL33_Reconsidered(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, other, crowd := h.queue("source"), h.queue("other"), h.crowd(2)
		h.scarce(true)
		gone := pendingMessage(other, "expired", "gone", 1, 2)
		h.exchange(&topology.Exchange{Name: "gone", Type: "fanout"}, "", "", crowd...)
		h.send(forwarding(source, 1, 1), gone)
		h.nothing(other)
		h.vhost.Publish(h.vhost.Directory().WithoutExchange("gone"))
		h.exchange(&topology.Exchange{Name: "crowd", Type: "fanout"}, "", "", crowd[1])
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		h.settled(other, mail.Range{First: 1, Last: 2})
		if m := &take[*mail.Enqueue](h, crowd[1]).Messages[0]; m.Overlay.Hops != 1 || m.Overlay.Copied {
			t.Errorf("%+v", m.Overlay)
		}
		h.nothing(crowd[0])
	})
}

// TestDL33_UnansweredAreBounded: while targets have not answered many copies, no further ones are made; messages for
// one queue continue.
func TestDL33_UnansweredAreBounded(t *testing.T) {
	withFixture(t, func(h *fixture) {
		const limit, targets = 1 << 15, 64
		source, other, crowd := h.queue("source"), h.queue("other"), h.crowd(targets)
		h.exchange(&topology.Exchange{Name: "one", Type: "fanout"}, "", "", crowd[0])
		h.send(forwarding(source, 1, 512), forwarding(source, 513, 512), pendingMessage(other, "expired", "one", 1, 7))
		var sent []*mail.Enqueue
		made, single := 0, 0
		collect := func() {
			for _, p := range crowd {
				for p.waiting() > 0 {
					e := take[*mail.Enqueue](h, p)
					if sent = append(sent, e); e.Messages[0].Overlay.Dead() {
						single += len(e.Messages)
					} else {
						made += len(e.Messages)
					}
				}
			}
		}
		if collect(); made < limit || made > limit+targets || single != 7 {
			t.Errorf("%d copies, %d messages for one queue", made, single)
		}
		for len(sent) > 0 {
			list := sent
			sent = nil
			for _, e := range list {
				h.answer(e, false)
			}
			collect()
		}
		if made != 1024*targets {
			t.Errorf("%d copies", made)
		}
	})
}
