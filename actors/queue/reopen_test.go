package queue

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/memory"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/policies/retry"

	"github.com/asynkron/protoactor-go/actor"
)

// survivor holds the properties that must be the same after a restart.
type survivor struct {
	deadline, ttl, enqueued int64
	size                    int64
	returns                 message.Returns
	priority                uint8
	redelivered             bool
	deferred                bool
	until                   int64
}

// survivors lists the messages that survive a restart. Unacked ones are marked as redelivered.
func (r *rig) survivors() map[uint64]survivor {
	all := map[uint64]survivor{}
	r.look(func(s *state) {
		out := map[uint32]bool{}
		s.consumers.Channels(func(h *consumers.Holder) {
			h.Unacked.Each(func(_ uint64, u consumers.ChannelDelivery) bool { out[u.Message] = true; return true })
		})
		s.messages.DeadLetters.Each(func(h backlog.Handle, why store.Reason) bool {
			out[h] = out[h] || why == store.Rejected
			return true
		})
		s.messages.Backlog.Sweep(1, 1<<30, func(h uint32) {
			e := s.messages.Backlog.Entry(h)
			if !e.Stored {
				return
			}
			enqueued, ttl := s.messages.Backlog.Times(h)
			all[e.Seq] = survivor{
				e.Deadline, ttl, enqueued, s.messages.Backlog.Size(h), e.Returns,
				s.messages.Backlog.Priority(h), e.Redelivered || out[h], e.Marks&backlog.Deferred != 0, 0,
			}
			if until, ok := s.messages.Deferred.Until(h); ok && e.Marks&backlog.Deferred != 0 {
				m := all[e.Seq]
				if m.until = until; until <= r.config.Clock.Now().Floor() { // it becomes ready in the next turn
					m.deferred, m.until = false, 0
				}
				all[e.Seq] = m
			}
		})
	})
	return all
}

// reopen restarts the broker: only the journal's content is left.
func (r *rig) reopen() {
	_ = r.system.Root.StopFuture(r.queue).Wait()
	r.journal = r.journal.Reopen(r.options)
	r.config.Journal, r.config.Recovered = r.journal, r.journal.Take(7)
	r.config.Newest += 1 << 44 // like a start
	r.spawn()
}

// traffic plays a client with random requests.
type traffic struct {
	*rig
	rng    *rand.Rand
	number uint64
	tags   int
}

// entrusted returns message n, whose fields can be checked from the number.
func entrusted(n uint64, rng *rand.Rand) message.Message {
	m := numbered(n, []int64{-1, 1 + rng.Int64N(500), 3600_000 + rng.Int64N(1000)}[rng.IntN(3)])
	m.Body = fmt.Appendf(nil, "%d%*s", n, rng.IntN(300), "")
	m.RoutingKey = fmt.Appendf(nil, "key %d", n)
	setPersistent(&m, rng.IntN(4) > 0)
	m.Priority = uint8(rng.IntN(3))
	if n%3 == 0 {
		m.Overlay = &message.Overlay{CC: []string{strconv.FormatUint(n, 10)}}
	}
	return m
}

// whole returns the number of a delivered message, and whether its fields match it.
func whole(d mail.Delivery) (n uint64, ok bool) {
	_, err := fmt.Sscan(string(d.Message.Body), &n)
	ok = err == nil && string(d.Message.RoutingKey) == fmt.Sprint("key ", n)
	if n%3 == 0 {
		ok = ok && d.Message.Overlay != nil && slices.Equal(d.Message.Overlay.CC, []string{strconv.FormatUint(n, 10)})
	}
	return n, ok
}

// said returns a random outcome of a consumer, mostly none.
func said(rng *rand.Rand) *mail.Outcome {
	if rng.IntN(3) > 0 {
		return nil
	}
	if rng.IntN(3) == 0 {
		return &mail.Outcome{Until: time.Now().UnixMilli() + rng.Int64N(400)}
	}
	return &mail.Outcome{Annotations: table("x-opt-"+strconv.Itoa(rng.IntN(3)), "a"), Properties: table("said", strconv.Itoa(rng.IntN(99)))}
}

func (x *traffic) step() {
	request := mail.Request{ReplyTo: x.channel.pid}
	switch x.rng.IntN(10) {
	default:
		batch := &mail.Enqueue{From: x.channel.pid}
		for range 1 + x.rng.IntN(5) {
			x.number++
			batch.Messages = append(batch.Messages, entrusted(x.number, x.rng))
		}
		x.send(batch)
	case 0:
		x.tags++
		x.send(&mail.Consume{Request: request, Channel: x.channel.pid, Tag: fmt.Sprint(x.tags), Prefetch: 1 + x.rng.IntN(4), NoAck: x.rng.IntN(5) == 0})
	case 1:
		x.send(&mail.CancelConsumer{Request: request, Channel: x.channel.pid, Tag: fmt.Sprint(1 + x.rng.IntN(x.tags+1))})
	case 2:
		x.send(&mail.Get{Request: request, Channel: x.channel.pid, NoAck: x.rng.IntN(2) == 0})
	case 3, 4, 5:
		from := 1 + x.rng.Uint64N(20)
		x.send(&mail.Settle{Channel: x.channel.pid, Ranges: []mail.SettleRange{
			{First: from, Last: from + x.rng.Uint64N(8), How: settlements[x.rng.IntN(len(settlements))], Outcome: said(x.rng)},
		}})
	case 7:
		m := &mail.ReceiveDeferred{Request: request, Channel: x.channel.pid, NoAck: x.rng.IntN(3) == 0}
		for range x.rng.IntN(8) {
			m.Seqs = append(m.Seqs, 1+x.rng.Uint64N(x.number+1))
		}
		x.send(m)
	case 6:
		x.send(&mail.ChannelGone{Channel: x.channel.pid})
	}
	for _, d := range got[*mail.Deliver](x.channel) {
		for _, m := range d.Items {
			if _, ok := whole(m); !ok {
				x.t.Errorf("delivered %q with key %q", m.Message.Body, m.Message.RoutingKey)
			}
		}
	}
	time.Sleep(time.Duration(x.rng.IntN(3000)) * time.Microsecond)
}

// TestReopen_TTL26: with random commands, a slow journal and restarts, some of them with records under way, the journal returns
// the queue's messages, whether their contents were in memory or not.
func TestReopen_TTL26(t *testing.T) {
	seeded(t, 20, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		change := func(s *policies.QueueSettings) {
			s.MaxPriority = uint8(rng.IntN(3))
			s.NormalPriority = s.MaxPriority / 2
			s.StrictExpiry = rng.IntN(4) == 0
			if rng.IntN(3) == 0 {
				s.Retry = retry.Settings{Failed: true, Min: 30, Max: 50}
			}
		}
		bubble(t, settings(dlx, change), func(r *rig) { r.surroundings(rng) }, func(r *rig) {
			x := &traffic{rig: r, rng: rng}
			for range 3 {
				x.life()
			}
			x.drain()
		})
	})
}

// surroundings sets up a slow journal, a dead-letter actor that does not answer every time, and perhaps too little memory.
func (r *rig) surroundings(rng *rand.Rand) {
	r.config.Queue.Durable = true
	r.options.Delay = time.Duration(rng.IntN(20)) * time.Millisecond
	if rng.IntN(2) == 0 {
		r.config.Budget = new(budget.Budget)
		r.config.Budget.Add(2)
		r.config.Budget.SetLimit(1)
	}
	forgets := rand.New(rand.NewPCG(rng.Uint64(), 0)) // of the actor only
	r.dead.react = func(ctx actor.Context, what any) {
		if l, ok := what.(*mail.DeadLetter); ok && forgets.IntN(2) == 0 {
			reply := &mail.DeadLetterReply{Incarnation: l.Incarnation}
			for _, d := range l.Messages {
				reply.Add(d.Number)
			}
			actorlib.Send(ctx, l.From, reply)
		}
	}
}

// life runs the time between two restarts.
func (x *traffic) life() {
	x.look(func(s *state) { s.messages.Pager.Idle, s.messages.Pager.Busy = 0, 0 })
	for range 150 {
		x.step()
		if x.rng.IntN(10) == 0 {
			x.send(&mail.Trim{})
		}
	}
	if x.rng.IntN(2) == 0 {
		time.Sleep(100 * time.Millisecond)
	}
	synctest.Wait()
	before := x.survivors()
	x.reopen()
	after := x.survivors()
	for seq, m := range before {
		if now := x.config.Clock.Now().Floor(); m.until != 0 && min(m.until, m.deadline) <= now { // it has become ready or a dead letter
			m.deferred, m.until = false, 0
			before[seq] = m
		}
	}
	maps.DeleteFunc(before, func(seq uint64, m survivor) bool { // overdue messages have expired
		_, there := after[seq]
		return !there && m.deadline <= x.config.Clock.Now().Floor()
	})
	if !maps.Equal(before, after) {
		for seq, b := range before {
			if a := after[seq]; a != b {
				x.t.Errorf("message %d was %+v, is %+v", seq, b, a)
			}
		}
		x.t.Fatalf("%d messages, %d after the restart", len(before), len(after))
	}
}

// drain gets all remaining messages: each must be there and unchanged.
func (x *traffic) drain() {
	time.Sleep(time.Second) // until no message is postponed
	synctest.Wait()
	ready := 0
	x.look(func(s *state) { ready = s.messages.Backlog.Ready() })
	got[*mail.GetReply](x.channel)
	for range ready {
		x.settled(&mail.Get{Request: mail.Request{ReplyTo: x.channel.pid}, Channel: x.channel.pid, NoAck: true})
		time.Sleep(100 * time.Millisecond)
	}
	last := make([]uint64, 3)
	there := 0
	for _, g := range got[*mail.GetReply](x.channel) {
		if g.Empty {
			continue
		}
		there++
		n, ok := whole(g.Delivery)
		if p := g.Delivery.Message.Priority; !ok || n <= last[p] {
			x.t.Errorf("got %q behind %d", g.Delivery.Message.Body, last[p])
		} else {
			last[p] = n
		}
	}
	x.look(func(s *state) {
		if s.messages.Backlog.Ready() != 0 || s.messages.Counts.Damaged != 0 {
			x.t.Errorf("%d ready, %d damaged", s.messages.Backlog.Ready(), s.messages.Counts.Damaged)
		}
	})
	if there == 0 && ready > 0 {
		x.t.Errorf("none of %d was there", ready)
	}
}

// TestFailingJournal_LEASE8: the journal begins to fail at some point. Confirmed messages exist after the restart; later ones are
// refused, and the queue accepts no more persistent messages.
func TestFailingJournal_LEASE8(t *testing.T) {
	for range 10 {
		fails := 2 + rand.IntN(20)
		bubble(t, settings(), func(r *rig) {
			r.config.Queue.Durable = true
			r.options = memory.Options{Delay: 5 * time.Millisecond, Fail: func() error {
				if fails--; fails < 0 {
					return errors.New("a fence")
				}
				return nil
			}}
		}, func(r *rig) {
			rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
			for n := range uint64(200) {
				m := numbered(n+1, -1)
				setPersistent(&m, n%5 > 0)
				r.send(batch(r.channel, m))
				time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			acks, nacks := answers(r.channel)
			if len(acks)+len(nacks) != 200 || nacks[200] != 1 || acks[196] != 1 {
				t.Errorf("%d acks, %d nacks", len(acks), len(nacks))
			}
			fails = 1 << 30
			r.reopen()
			kept := map[uint64]bool{}
			for range r.survivors() {
				r.settled(&mail.Get{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid, NoAck: true})
				time.Sleep(100 * time.Millisecond)
			}
			for _, g := range got[*mail.GetReply](r.channel) {
				n, _ := strconv.ParseUint(string(g.Delivery.Message.Body), 10, 64)
				kept[n] = true
			}
			for n := uint64(1); n <= 200; n++ {
				if persistent := (n-1)%5 > 0; persistent && acks[n] == 1 && !kept[n] {
					t.Errorf("%d was confirmed and is lost", n)
				}
			}
		})
	}
}

// TestReplayEqualsLive_LEASE8: the records of a slow journal, which may fail at times, lead to the queue's messages; messages
// that could not be stored were refused (PRO-14).
func TestReplayEqualsLive_LEASE8(t *testing.T) {
	for _, failing := range []bool{false, true} {
		t.Run(fmt.Sprintf("failing=%v", failing), func(t *testing.T) {
			bubble(t, settings(dlx), func(r *rig) {
				r.config.Queue.Durable = true
				r.options.Delay = 5 * time.Millisecond
				count := 0
				if failing {
					r.options.Fail = func() error {
						if count++; count%3 == 0 {
							return fmt.Errorf("no space left")
						}
						return nil
					}
				}
			}, func(r *rig) { replayOver(r, failing) })
		})
	}
}

func replayOver(r *rig, failing bool) {
	const n = 500
	first := r.config.Newest
	request := mail.Request{ReplyTo: r.channel.pid}
	for i := uint64(1); i <= n; i++ {
		m := numbered(i, []int64{-1, 1 + rand.Int64N(50), 3600_000 + rand.Int64N(1000)}[i%3])
		setPersistent(&m, i%4 != 0)
		r.send(batch(r.channel, m))
		if i%5 == 0 && !failing {
			r.send(&mail.Get{Request: request, Channel: r.channel.pid, NoAck: i%2 == 0})
		}
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	acks, nacks := answers(r.channel)
	if len(acks)+len(nacks) != n || failing != (len(nacks) > 0) {
		r.t.Fatalf("%d acks, %d nacks", len(acks), len(nacks))
	}
	kept := replayed(r.journal.Replay(7))
	if failing { // the queue keeps all accepted messages, the journal the confirmed ones
		for seq := range kept {
			if acks[seq-first] != 1 {
				r.t.Errorf("%d is stored and was refused", seq)
			}
		}
		return
	}
	live := r.live()
	for seq, k := range kept {
		if at, ok := live[seq]; !ok || at != k.at {
			r.t.Errorf("%d replayed with deadline %d, alive: %v with %d", seq, k.at, ok, at)
		}
	}
	if len(kept) != len(live) || len(kept) == 0 {
		r.t.Fatalf("%d replayed, %d live", len(kept), len(live))
	}
}
