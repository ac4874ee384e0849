package command

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// jobRunner completes jobs when the test says so.
type jobRunner struct {
	began chan Command
	done  chan string
}

// withJobRunner is inBubble with a jobRunner.
func withJobRunner(t *testing.T, test func(b *bubble, c *jobRunner)) {
	inBubble(t, func(b *bubble) {
		if err := b.system.Root.StopFuture(b.actor).Wait(); err != nil {
			b.Fatal(err)
		}
		c := &jobRunner{make(chan Command, 10), make(chan string)}
		b.actor = b.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return New(Config{VHost: b.vhost, Registry: b.registry.pid, Clock: clock.New(), Log: zerolog.Nop(), Carry: func(ctx context.Context, m Command) []byte {
				c.began <- m
				select {
				case answer := <-c.done:
					return []byte(answer)
				case <-ctx.Done():
					if ctx.Err() == context.DeadlineExceeded {
						time.Sleep(time.Millisecond) // later than the answer timeout
					}
					return []byte(`{"late":true}`)
				}
			}})
		}))
		test(b, c)
	})
}

// ask sends commands as a channel of user alice would.
func (b *bubble) ask(from *probe, commands ...message.Message) {
	b.system.Root.Send(b.actor, &mail.Enqueue{
		From: from.pid, By: &mail.Publisher{User: "alice", Tags: []string{"management"}, Connection: b.deadLetter.pid}, Messages: commands,
	})
}

func (c *jobRunner) next(b *bubble) Command {
	b.Helper()
	synctest.Wait()
	select {
	case m := <-c.began:
		return m
	default:
		b.Fatal("nothing was begun")
		return Command{}
	}
}

// TestJobs: jobs of one channel run one after the other, jobs of two channels concurrently; answers keep the order of
// the commands.
func TestJobs(t *testing.T) {
	withJobRunner(t, func(b *bubble, c *jobRunner) {
		b.ask(b.channel, publishing("lock.renew", `{"queue":"q"}`), publishing("queue.peek", "2"))
		b.ask(b.registry, publishing("scheduled.list", "3"))
		m, other := c.next(b), c.next(b)
		if m.Key != "lock.renew" { // the goroutines may start in any order
			m, other = other, m
		}
		if m.User.Name != "alice" || !m.User.HasTag("management") || m.Channel != b.channel.pid.Id || m.Connection != b.deadLetter.pid.Id ||
			m.Key != "lock.renew" || string(m.Body) != `{"queue":"q"}` {
			t.Errorf("%+v", m)
		}
		if other.Key != "scheduled.list" || other.Channel != b.registry.pid.Id {
			t.Errorf("%+v", other)
		}
		synctest.Wait()
		if len(c.began) != 0 {
			t.Error("the second of a channel was begun before the first had ended")
		}
		c.done <- `{"ok":1}`
		c.done <- `{"ok":2}`
		if m := c.next(b); m.Key != "queue.peek" {
			t.Errorf("%+v", m)
		}
		c.done <- `{"ok":3}`
		got := []string{}
		for range 3 {
			e := next[*mail.Enqueue](b.answers)
			got = append(got, string(e.Messages[0].Body))
		}
		// The order of the first two answers depends on the goroutines.
		if s := fmt.Sprint(got); s != `[{"ok":1} {"ok":3} {"ok":2}]` && s != `[{"ok":2} {"ok":3} {"ok":1}]` {
			t.Error(s)
		}
	})
}

// TestJobsTakeTooLong: waiting commands are answered with a timeout, and jobs answered already are not started.
func TestJobsTakeTooLong(t *testing.T) {
	withJobRunner(t, func(b *bubble, c *jobRunner) {
		b.ask(b.channel, publishing("queue.peek", "1"), publishing("queue.peek", "2"))
		c.next(b)
		time.Sleep(patience)
		for range 2 {
			b.expect("queue.peek", `{"error":"timeout","reason":"the broker did not answer in time"}`)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if len(c.began) != 0 {
			t.Error("begun in vain")
		}
		b.ask(b.channel, publishing("queue.peek", "3"))
		if m := c.next(b); string(m.Body) != "3" {
			t.Errorf("%+v", m)
		}
		c.done <- `{}`
		b.expect("queue.peek", `{}`)
		b.ask(b.channel, publishing("queue.peek", "4")) // the actor ends while it runs
		c.next(b)
	})
}

// TestSetWarns: the answer to policy.set has the warning of a preview, and comes without one if the preview fails or takes too long.
func TestSetWarns(t *testing.T) {
	withJobRunner(t, func(b *bubble, c *jobRunner) {
		const body = `{"name":"p","pattern":"^q","definition":{"max-length":1}}`
		set := func() {
			t.Helper()
			b.ask(b.channel, publishing("policy.set", body))
			b.reply(&mail.PolicyReply{Reply: next[*mail.SetPolicy](b.registry).Done(nil), Found: true})
			if m := c.next(b); m.Key != "policy.preview" || string(m.Body) != body || m.Channel != b.channel.pid.Id {
				t.Errorf("%+v", m)
			}
		}
		for answer, want := range map[string]string{
			`{"ok":true,"matches":12,"warning":"shadowed"}`: `{"ok":true,"replaced":true,"warning":"shadowed"}`,
			`{"ok":true,"matches":12,"warning":null}`:       `{"ok":true,"replaced":true}`,
			`{"error":"not_authorised","reason":"no"}`:      `{"ok":true,"replaced":true}`,
		} {
			set()
			c.done <- answer
			b.expect("policy.set", want)
		}
		set()
		time.Sleep(patience)
		b.expect("policy.set", `{"ok":true,"replaced":true}`)
		time.Sleep(time.Millisecond)
		b.ask(b.channel, publishing("policy.set", body+strings.Repeat(" ", maxCommand))) // too large to keep
		b.reply(&mail.PolicyReply{Reply: next[*mail.SetPolicy](b.registry).Done(nil)})
		b.expect("policy.set", `{"ok":true,"replaced":false}`)
	})
}
