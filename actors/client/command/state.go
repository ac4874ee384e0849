package command

import (
	"fmt"
	"strings"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/text/jsonencode"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// patience is how long the registry may take for a command, not counting time while the machine sleeps.
const patience = 30 * time.Second

// Limits on what the actor holds for senders of commands.
const (
	// maxWaiting is the maximum number of unanswered commands in a virtual host, maxOfUser of one user.
	maxWaiting = 1000
	maxOfUser  = 100
	// maxJobs is the maximum number of jobs that run at once.
	maxJobs = 4
	// maxCommand is the maximum size of a command about messages, in bytes.
	maxCommand = 64 << 10
	// maxAnswer is the maximum size of an answer in bytes, maxHeld of all answers that wait for earlier ones.
	maxAnswer = 16 << 20
	maxHeld   = 64 << 20
)

// state is the core of the actor.
type state struct {
	self, registry mail.Address
	vhost          *topology.VHost
	log            zerolog.Logger
	// queue holds the unanswered commands, in order; the first has the number first, the next ones follow without
	// gaps.
	queue []command
	first uint64
	out   mail.Posts
	users map[string]int // number of commands in queue by user
	held  int            // bytes of answers in queue
	// lines are the jobs of each channel, by its name; ready are the first jobs of each channel that have not started,
	// begun the jobs to start now, busy the number of running jobs.
	lines        map[string][]job
	ready, begun []job
	busy         int
}

// command is a command that has not been answered.
type command struct {
	user                 string
	replyTo, correlation []byte        // nil for none
	deadline             time.Duration // on the broker's monotonic clock, like all times here
	operation            operation
	look                 *job     // for setPolicy: asks how far the policy reaches, when it is set; nil for none
	set                  *changed // of a policy that is set, while look runs
	answer               []byte   // nil before it is known
}

// enqueue handles a batch of commands and confirms it.
func (s *state) enqueue(e *mail.Enqueue, now time.Duration) {
	reply := &mail.EnqueueReply{Queue: s.self}
	deadLettered := mail.Same(e.From, s.vhost.DeadLetter)
	for i := range e.Messages {
		m := &e.Messages[i]
		reply.Add(m.Number)
		if deadLettered || m.Overlay.Dead() || string(m.Exchange) != topology.AdminExchange {
			s.log.Warn().Bytes("exchange", m.Exchange).Bytes("routing_key", m.RoutingKey).
				Msg("an admin command was dropped: it was not published to " + topology.AdminExchange)
			continue
		}
		s.take(m, e.From, e.By, now)
	}
	if len(reply.Ranges) > 0 {
		s.out.Send(e.From, reply)
	}
}

// take queues one command and executes it, or answers with an error.
func (s *state) take(m *message.Message, from mail.Address, by *mail.Publisher, now time.Duration) {
	c := command{deadline: now + patience}
	if scan, err := protocol.ScanProperties(m.Header); err == nil {
		c.replyTo = append(c.replyTo, scan.ReplyTo...)
		c.correlation = append(c.correlation, scan.CorrelationID...)
	}
	if by != nil {
		c.user = by.User
	}
	carried := isJob(m.RoutingKey)
	if f, refused := s.tooMuch(&c, carried, m); refused {
		c.answer = jsonencode.Marshal(f)
		s.publish(&c) // refused commands do not wait for others
		return
	}
	number := s.first + uint64(len(s.queue))
	s.users[c.user]++
	if carried {
		s.queue = append(s.queue, c)
		s.addJob(number, from, by, m, now, c.deadline)
		return
	}
	what, err := parse(s.vhost.Name, string(m.RoutingKey), m.Body)
	if err == nil && what.operator && what.operation != listPolicies && !mayChange(auth.OperatorPolicies, by) {
		err = failure{"not_authorised", "Not administrator user"}
	}
	c.operation = what.operation
	if c.operation == setPolicy && by != nil && from != nil && len(m.Body) <= maxCommand {
		look := newJob(number, from, by, m, c.deadline)
		look.command.Key = strings.TrimSuffix(look.command.Key, "set") + "preview"
		c.look = &look
	}
	s.queue = append(s.queue, c)
	if err != nil {
		s.answer(number, refusal(err))
		return
	}
	r := mail.Request{ReplyTo: s.self, ID: number}
	if by != nil {
		r.By = by.Origin
	}
	s.out.Send(s.registry, what.mail(r))
}

// tooMuch refuses a command that exceeds the limits.
func (s *state) tooMuch(c *command, carried bool, m *message.Message) (failure, bool) {
	switch {
	case s.users[c.user] >= maxOfUser:
		return failure{"too_many_requests", fmt.Sprintf("user '%s' has %d unanswered commands, the maximum: wait for their answers", c.user, maxOfUser)}, true
	case len(s.queue) >= maxWaiting:
		return failure{"too_many_requests", fmt.Sprintf("the broker has %d unanswered commands, the maximum: try again later", maxWaiting)}, true
	case carried && len(m.Body) > maxCommand:
		about := "messages"
		if !topology.IsOpenCommand(m.RoutingKey) {
			about = "effects of policies"
		}
		return failure{"bad_request", fmt.Sprintf("a command about %s may have at most %d bytes", about, maxCommand)}, true
	}
	return failure{}, false
}

// mayChange reports whether a publisher, nil if unknown, may change a setting.
func mayChange(s auth.Setting, by *mail.Publisher) bool {
	return by != nil && auth.User{Name: by.User, Tags: by.Tags}.MayChange(s)
}

// policyChanged handles the registry's answer to a change.
func (s *state) policyChanged(m *mail.PolicyReply, now time.Duration) {
	c := s.open(m.ID)
	switch {
	case c == nil:
	case m.Err != nil:
		s.answer(m.ID, refusal(m.Err))
	case c.operation == setPolicy && c.look != nil:
		c.set = &changed{OK: true, Replaced: m.Found}
		s.line(*c.look, now)
	case c.operation == setPolicy:
		s.answer(m.ID, changed{OK: true, Replaced: m.Found})
	case m.Found:
		s.answer(m.ID, done{OK: true})
	default:
		s.answer(m.ID, failure{"Object Not Found", "Not Found"})
	}
}

func (s *state) policiesListed(m *mail.PolicyList) {
	if m.Err != nil {
		s.answer(m.ID, refusal(m.Err))
		return
	}
	s.answer(m.ID, listed{OK: true, Policies: append([]*policies.Policy{}, m.Policies...)}) // never null
}

// open returns the unanswered command with the given number, otherwise nil.
func (s *state) open(number uint64) *command {
	if number < s.first || number-s.first >= uint64(len(s.queue)) {
		return nil
	}
	if c := &s.queue[number-s.first]; c.answer == nil {
		return c
	}
	return nil
}

// answer sets the answer of a command, and sends all due answers.
func (s *state) answer(number uint64, v any) { s.answerEncoded(number, jsonencode.Marshal(v)) }

// answerEncoded does the same as answer with an answer that is already JSON.
func (s *state) answerEncoded(number uint64, answer []byte) {
	c := s.open(number)
	if c == nil {
		return
	}
	c.answer = answer
	if len(c.answer) > maxAnswer || number != s.first && s.held+len(c.answer) > maxHeld {
		c.answer = jsonencode.Marshal(failure{"too_large", fmt.Sprintf("an answer of %d bytes is too large: request fewer items", len(c.answer))})
	}
	s.held += len(c.answer)
	n := 0
	for ; n < len(s.queue) && s.queue[n].answer != nil; n++ {
		s.publish(&s.queue[n])
		s.forget(&s.queue[n])
	}
	s.first += uint64(n)
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
}

// forget releases the resources of an answered command.
func (s *state) forget(c *command) {
	s.held -= len(c.answer)
	if s.users[c.user]--; s.users[c.user] <= 0 {
		delete(s.users, c.user)
	}
	*c = command{}
}

// publish sends an answer through the default exchange.
func (s *state) publish(c *command) {
	q := s.vhost.Directory().Queue(c.replyTo)
	if q == nil {
		q = s.vhost.Requester(c.replyTo)
	}
	if len(c.replyTo) == 0 || q == nil {
		return
	}
	p := protocol.Properties{ContentType: "application/json", Flags: protocol.FlagContentType}
	if c.correlation != nil {
		p.CorrelationID = string(c.correlation)
		p.Flags |= protocol.FlagCorrelationID
	}
	s.out.Send(q.PID, &mail.Enqueue{From: s.self, Queue: q.PID, Messages: []message.Message{{
		RoutingKey: c.replyTo, Header: p.Append(nil), Body: c.answer, TTL: message.NoTTL, Owned: true,
	}}})
}

// deadline returns when the oldest command is overdue.
func (s *state) deadline() (time.Duration, bool) {
	if len(s.queue) == 0 {
		return 0, false
	}
	return s.queue[0].deadline, true
}

// expire answers overdue commands.
func (s *state) expire(now time.Duration) {
	for len(s.queue) > 0 && now >= s.queue[0].deadline {
		if set := s.queue[0].set; set != nil {
			s.answer(s.first, set)
			continue
		}
		s.answer(s.first, failure{"timeout", "the broker did not answer in time"})
	}
}
