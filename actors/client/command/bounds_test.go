package command

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// bodies takes the answers so far.
func (b *bubble) bodies() (all []string) {
	synctest.Wait()
	for len(b.answers.got) > 0 {
		all = append(all, string((<-b.answers.got).(*mail.Enqueue).Messages[0].Body))
	}
	return all
}

// Unanswered commands are limited, per user and in total, and so are commands executed concurrently. Refused commands are
// answered at once.
func TestWaitingCommandsAreBounded(t *testing.T) {
	withJobRunner(t, func(b *bubble, c *jobRunner) {
		channels := []*probe{b.probe(), b.probe(), b.probe(), b.probe(), b.probe(), b.probe()}
		for i := range maxOfUser {
			b.ask(channels[i%len(channels)], publishing("queue.peek", fmt.Sprint(i)))
		}
		if got := b.bodies(); len(got) != 0 || len(c.began) != maxJobs {
			t.Errorf("%d answers, %d are carried out at once", len(got), len(c.began))
		}
		b.ask(b.channel, publishing("queue.peek", "x"), publishing("policy.list", ""))
		const refused = `{"error":"too_many_requests","reason":"user 'alice' has 100 unanswered commands, the maximum: wait for their answers"}`
		if got := b.bodies(); len(got) != 2 || got[0] != refused || got[1] != refused {
			t.Errorf("%q", got)
		}
		for user := range maxWaiting/maxOfUser - 1 {
			e := &mail.Enqueue{From: b.channel.pid, By: &mail.Publisher{User: fmt.Sprint(user)}}
			for range maxOfUser {
				e.Messages = append(e.Messages, publishing("queue.peek", ""))
			}
			b.system.Root.Send(b.actor, e)
		}
		b.system.Root.Send(b.actor, &mail.Enqueue{
			From: b.channel.pid, By: &mail.Publisher{User: "other"}, Messages: []message.Message{publishing("queue.peek", "")},
		})
		if got := b.bodies(); len(got) != 1 || got[0] != `{"error":"too_many_requests","reason":"the broker has 1000 unanswered commands, the maximum: try again later"}` {
			t.Errorf("%q", got)
		}
	})
}

func TestCommandsAndAnswersAreBounded(t *testing.T) {
	withJobRunner(t, func(b *bubble, c *jobRunner) {
		b.ask(b.channel, publishing("queue.peek", strings.Repeat("x", maxCommand+1)))
		b.expect("queue.peek", `{"error":"bad_request","reason":"a command about messages may have at most 65536 bytes"}`)
		b.ask(b.channel, publishing("queue.peek", ""))
		c.next(b)
		c.done <- `"` + strings.Repeat("x", maxAnswer-1) + `"`
		b.expect("queue.peek", fmt.Sprintf(`{"error":"too_large","reason":"an answer of %d bytes is too large: request fewer items"}`, maxAnswer+1))
	})
}

// The bytes of answers held behind an outstanding one are limited.
func TestHeldAnswersAreBounded(t *testing.T) {
	s := state{vhost: topology.NewVHost("/"), first: 1, users: map[string]int{"alice": 11}}
	for range 11 {
		s.queue = append(s.queue, command{user: "alice"})
	}
	large := strings.Repeat("x", maxAnswer-2)
	for n := uint64(2); n <= 11; n++ {
		s.answer(n, large)
	}
	refused := 0
	for _, c := range s.queue {
		if strings.Contains(string(c.answer), "too_large") {
			refused++
		}
	}
	if refused != 10-maxHeld/maxAnswer || s.held > maxHeld+10*200 {
		t.Errorf("%d refused, %d bytes held", refused, s.held)
	}
	s.answer(1, large)
	if s.held != 0 || len(s.queue) != 0 || len(s.users) != 0 {
		t.Errorf("%d bytes, %d commands, %v left", s.held, len(s.queue), s.users)
	}
}
