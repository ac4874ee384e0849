package queue

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
)

// majority is how long the journal of these tests takes.
const majority = time.Second

// replicated makes the queue that of a cluster.
func replicated(kind string) func(r *rig) {
	return func(r *rig) {
		r.options.Delay = majority
		r.config.Current = func() bool { return true }
		r.config.Queue.Durable = true
		r.config.Queue.Arguments = policies.WithQueueType(nil, true, false, false, kind)
		r.config.Post = func(to mail.Address, what any) { r.system.Root.Send(r.system.NewLocalPID(to.GetId()), what) }
	}
}

func afterCommit(s *policies.QueueSettings) { s.DeliverAfterCommit = true }

// TestOutput_CLU16: a quorum queue of a cluster tells nothing before the journal has everything that it tells of; a classic queue only if its
// settings say so.
func TestOutput_CLU16(t *testing.T) {
	for name, kind := range map[string]struct {
		kind     string
		settings policies.QueueSettings
		waits    bool
	}{
		"quorum":               {"quorum", settings(), true},
		"classic":              {"classic", settings(), false},
		"classic after commit": {"classic", settings(afterCommit), true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, kind.settings, replicated(kind.kind), func(r *rig) {
				time.Sleep(2 * majority) // a classic queue waits for records of before
				request := mail.Request{ReplyTo: r.channel.pid}
				m := persistentMsg("a", -1)
				m.Number = 1
				r.send(batch(r.channel, m))
				r.settled(&mail.Consume{Request: request, Channel: r.channel.pid, Tag: "t", Connection: owner})
				now := func(what string, n int) {
					t.Helper()
					if told := n > 0; told == kind.waits {
						t.Errorf("%s was told before the end of the Append: %v", what, told)
					}
				}
				now("a consumer", len(got[*mail.ConsumeReply](r.channel)))
				now("a delivery", len(got[*mail.Deliver](r.channel)))
				if acks, _ := answers(r.channel); len(acks) != 0 {
					t.Error("confirmed before the end")
				}
				time.Sleep(majority)
				synctest.Wait()
				if acks, _ := answers(r.channel); len(acks) != 1 {
					t.Errorf("confirmed: %v", acks)
				}
				time.Sleep(3 * majority / 2)
				r.settled(&mail.Settle{Channel: r.channel.pid, Ranges: []mail.SettleRange{{First: 1, Last: 1}}})
				got[any](r.channel)
				r.settled(&mail.Get{Request: request, Channel: r.channel.pid, Connection: owner}, &mail.Purge{Request: request})
				now("that the queue is empty", len(got[*mail.GetReply](r.channel)))
				time.Sleep(2 * majority)
				synctest.Wait()
				if len(got[*mail.PurgeReply](r.channel)) != 1 {
					t.Error("no answer to a purge")
				}
				r.settled(&mail.Get{Request: request, Channel: r.channel.pid, Connection: owner})
				if len(got[*mail.GetReply](r.channel)) == 0 {
					t.Error("no answer although nothing is outstanding")
				}
			})
		})
	}
}

// TestOutputOfAnEnd_CLU16: the answer to a deletion goes out after the end of the queue's records, and the actor has ended by then.
func TestOutputOfAnEnd_CLU16(t *testing.T) {
	bubble(t, settings(), replicated("quorum"), func(r *rig) {
		r.vhost.react = forget(0)
		time.Sleep(majority)
		r.settled(batch(r.channel, persistentMsg("a", -1)))
		time.Sleep(majority)
		r.settled(&mail.DeleteQueue{Request: mail.Request{ReplyTo: r.channel.pid}})
		if n := len(got[*mail.DeleteQueueReply](r.channel)); n != 0 {
			t.Error("answered before the end")
		}
		time.Sleep(2 * majority)
		synctest.Wait()
		if n := len(got[*mail.DeleteQueueReply](r.channel)); n != 1 {
			t.Errorf("%d answers", n)
		}
	})
}

// TestHeldCredit_CLU16: while mail about publishes is held, their publishers get no credit back, so that what is held has a bound.
func TestHeldCredit_CLU16(t *testing.T) {
	bubble(t, settings(), replicated("quorum"), func(r *rig) {
		time.Sleep(majority)
		r.settled(&mail.Consume{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid, Tag: "t", NoAck: true, Connection: owner})
		r.settled(&mail.Purge{}) // its record is outstanding
		gate := message.NewGate(1 << 20)
		for n := range uint64(100) {
			e := batch(r.channel, numbered(n+1, -1)) // delivered and not stored
			e.Debt.Add(gate, 1000)
			r.settled(e)
		}
		r.look(func(*state) {
			if n := r.shell.gate.Held(); n < 300 || gate.Used() != 100_000 {
				t.Errorf("%d mails and batches are held, with %d bytes of credit", n, gate.Used())
			}
		})
		time.Sleep(3 * majority)
		synctest.Wait()
		deliveries := 0
		for _, d := range got[*mail.Deliver](r.channel) {
			deliveries += len(d.Items)
		}
		if gate.Used() != 0 || deliveries != 100 {
			t.Errorf("%d bytes of credit, %d deliveries", gate.Used(), deliveries)
		}
	})
}

// TestLease_CLU17: a quorum queue whose node may have lost the lead answers that it is empty, or how many messages it has, after the end of another
// Append; others answer at once.
func TestLease_CLU17(t *testing.T) {
	for name, kind := range map[string]struct {
		kind         string
		lease, waits bool
	}{
		"quorum": {"quorum", false, true}, "quorum with a lease": {"quorum", true, false}, "classic": {"classic", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := func(r *rig) {
				replicated(kind.kind)(r)
				r.config.Current = func() bool { return kind.lease }
			}
			bubble(t, settings(), set, func(r *rig) {
				time.Sleep(3 * majority)
				request := mail.Request{ReplyTo: r.channel.pid}
				r.settled(&mail.Get{Request: request, Channel: r.channel.pid, Connection: owner}, &mail.Purge{Request: request})
				if n := len(got[any](r.channel)); (n == 0) != kind.waits {
					t.Errorf("%d answers at once", n)
				}
				time.Sleep(2 * majority)
				synctest.Wait()
				if n := len(got[any](r.channel)); (n == 2) != kind.waits {
					t.Errorf("%d answers later", n)
				}
			})
		})
	}
}

// TestBoundOfHeld_CLU40: what a queue holds until the journal has it counts as memory of queues and has a limit, at which it delivers nothing more and
// later mail waits; nothing is lost, and the order is kept.
func TestBoundOfHeld_CLU40(t *testing.T) {
	shared := &budget.Budget{}
	set := func(r *rig) {
		replicated("quorum")(r)
		r.config.Budget = shared
	}
	bubble(t, settings(), set, func(r *rig) {
		const each, all = 1 << 20, 100
		for n := range uint64(all) {
			m := persistentMsg(strings.Repeat("x", each), -1)
			m.Number = n + 1
			if r.settled(batch(r.channel, m)); n%20 == 19 {
				time.Sleep(3 * majority)
			}
		}
		got[any](r.channel)
		synctest.Wait()
		before := shared.Used()
		get := func() {
			r.settled(&mail.Get{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid, Connection: owner, NoAck: true})
		}
		for range all - 1 {
			get()
		}
		if taken := all - r.shell.state.messages.Backlog.Len(); taken != 32 || shared.Used() < before {
			t.Errorf("%d messages are in answers that are held, %d bytes before, %d now", taken, before, shared.Used())
		}
		get() // the queue goes on after what the test has read
		if n := len(got[any](r.channel)); n != 0 {
			t.Errorf("%d mails were sent", n)
		}
		time.Sleep(20 * majority)
		synctest.Wait()
		left := all
		for _, m := range got[*mail.GetReply](r.channel) {
			if left--; m.Empty || m.MessageCount != left {
				t.Errorf("%v, %d messages left, want %d", m.Empty, m.MessageCount, left)
			}
		}
		if n := shared.Used(); left != 0 || n > each {
			t.Errorf("%d messages have not come, %d bytes are held", left, n)
		}
	})
}
