package queue

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/message"
)

// describe returns the queue's description of itself.
func (r *rig) describe() *mail.QueueInfo {
	r.settled(&mail.DescribeQueue{Request: mail.Request{ReplyTo: r.channel.pid}})
	all := got[*mail.QueueInfo](r.channel)
	return all[len(all)-1]
}

func (r *rig) wantDormant(when string, want bool) {
	r.t.Helper()
	if is := r.shell.awake == nil; is != want {
		r.t.Errorf("%s: dormant is %v", when, is)
	}
}

func (r *rig) request() mail.Request { return mail.Request{ReplyTo: r.channel.pid} }

// TestDormant: a queue becomes dormant when it holds nothing, at once if it held nothing before, otherwise after some time
// without use. Clients see no difference.
func TestDormant(t *testing.T) {
	var sums metrics.Queues
	bubble(t, settings(expires(3600_000), dlx), func(r *rig) { r.config.Metrics = &sums }, func(r *rig) {
		r.wantDormant("at first", true)
		r.settled(&mail.DeclareQueue{Request: r.request(), Name: "q"})
		r.wantDormant("declared", true)
		r.settled(&mail.Get{Request: r.request(), Channel: r.channel.pid})
		r.wantDormant("asked for a message", true)
		r.settled(batch(r.channel, numbered(1, -1), numbered(2, 1000)))
		r.settled(&mail.Get{Request: r.request(), Channel: r.channel.pid, NoAck: true})
		r.wantDormant("with a message", false)
		time.Sleep(time.Second)
		synctest.Wait()
		last := got[*mail.DeadLetter](r.dead)
		r.settled(&mail.DeadLetterReply{Incarnation: 7, IDs: []mail.Range{{First: 1, Last: 1}}})
		r.wantDormant("empty for no time", false)
		time.Sleep(quietTime*time.Millisecond - 1)
		synctest.Wait()
		r.wantDormant("not long empty", false)
		before := r.describe()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		r.wantDormant("long empty", true)
		before.Memory = 0
		if after := r.describe(); !reflect.DeepEqual(before, after) || after.Counts.Publish != 2 || len(last) != 1 {
			t.Errorf("before\n%+v, after\n%+v", before, after)
		}
		r.wantDormant("described", true)
		if n := sums.Total(metrics.Classic); n[queuestats.Enqueued] != 2 || n[queuestats.Leased] != 1 || n[queuestats.Ready] != 0 {
			t.Error(n)
		}
		r.settled(batch(r.channel, numbered(3, 1000)))
		time.Sleep(time.Second)
		synctest.Wait()
		if m := got[*mail.DeadLetter](r.dead); len(m) != 1 || m[0].Messages[0].Number != 2 {
			t.Errorf("%+v: answers to the one before may come late", m)
		}
	})
}

// TestDormantLease_LEASE4: the lease of a dormant queue ends on time, and without a lease it has no timer.
func TestDormantLease_LEASE4(t *testing.T) {
	bubble(t, settings(expires(60_000)), func(r *rig) { r.vhost.react = forget(0) }, func(r *rig) {
		start := time.Now()
		time.Sleep(30 * time.Second)
		r.settled(batch(r.channel, numbered(1, -1)), &mail.Get{Request: r.request(), Channel: r.channel.pid, NoAck: true})
		time.Sleep(time.Hour)
		synctest.Wait()
		if a := <-r.dead.mail; a.at.Sub(start) != 90*time.Second {
			t.Errorf("%T after %s", a.what, a.at.Sub(start))
		}
	})
	bubble(t, settings(), nil, func(r *rig) {
		r.settled(batch(r.channel, numbered(1, -1)), &mail.Purge{Request: r.request()})
		used := r.describe().LastUse
		time.Sleep(time.Hour)
		synctest.Wait()
		r.wantDormant("without a lease", true)
		if n := r.fired.Load(); n != 0 || r.describe().LastUse != used {
			t.Errorf("%d turns for nothing", n)
		}
	})
}

// TestNotDormant: a queue with a consumer or a delivery is not dormant, and one whose channel may return keeps its state, but
// releases memory of messages.
func TestNotDormant(t *testing.T) {
	for name, row := range map[string]struct {
		hold  any // keeps the queue awake
		leave any // ends that
	}{
		"consumer":    {&mail.Consume{Tag: "c", NoAck: true}, &mail.ChannelGone{}},
		"unacked get": {&mail.Get{}, &mail.ChannelGone{}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, settings(), nil, func(r *rig) {
				for _, m := range []any{row.hold, row.leave} {
					switch m := m.(type) {
					case *mail.Consume:
						m.Request, m.Channel = r.request(), r.channel.pid
					case *mail.Get:
						m.Request, m.Channel = r.request(), r.channel.pid
					case *mail.ChannelGone:
						m.Channel = r.channel.pid
					}
				}
				r.settled(batch(r.channel, numbered(1, 600_000)), row.hold)
				time.Sleep(time.Hour)
				synctest.Wait()
				r.wantDormant("in use", false)
				r.settled(row.leave, &mail.Purge{})
				time.Sleep(quietTime * time.Millisecond)
				synctest.Wait()
				r.wantDormant("left", true)
			})
		})
	}
	bubble(t, settings(), nil, func(r *rig) {
		var many []message.Message
		for i := range uint64(3000) {
			many = append(many, numbered(i+1, 1000))
		}
		r.settled(batch(r.channel, many...), &mail.Get{Request: r.request(), Channel: r.channel.pid})
		r.settled(&mail.Settle{Channel: r.channel.pid, Ranges: []mail.SettleRange{{First: 1, Last: 1}}})
		time.Sleep(time.Second)
		synctest.Wait()
		full := r.describe().Memory
		time.Sleep(quietTime * time.Millisecond)
		synctest.Wait()
		r.wantDormant("with a channel that may come back", false)
		if left := r.describe().Memory; full == 0 || left != 0 {
			t.Errorf("%d of %d bytes stay", left, full)
		}
	})
}
