package command

import (
	"bytes"
	"encoding/json"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/message"
)

// job is a command that is executed asynchronously. Jobs of one channel run one after the other.
type job struct {
	number   uint64 // number of the command
	deadline time.Duration
	command  Command
}

// addJob adds a job.
func (s *state) addJob(number uint64, from mail.Address, by *mail.Publisher, m *message.Message, now, deadline time.Duration) {
	if by == nil || from == nil {
		s.answer(number, failure{"not_authorised", "the publisher of this command is unknown"})
		return
	}
	s.line(newJob(number, from, by, m, deadline), now)
}

// newJob returns the job of a command.
func newJob(number uint64, from mail.Address, by *mail.Publisher, m *message.Message, deadline time.Duration) job {
	e := job{number, deadline, Command{
		User: auth.User{Name: by.User, Tags: by.Tags}, Channel: from.GetId(), Origin: by.Origin, Key: string(m.RoutingKey), Body: bytes.Clone(m.Body),
	}}
	if by.Connection != nil {
		e.command.Connection = by.Connection.GetId()
	}
	return e
}

// line puts a job behind the other ones of its channel.
func (s *state) line(e job, now time.Duration) {
	line := append(s.lines[e.command.Channel], e)
	if s.lines[e.command.Channel] = line; len(line) == 1 {
		s.ready = append(s.ready, e)
		s.begin(now)
	}
}

// begin starts the oldest jobs whose senders still wait, up to maxJobs at once.
func (s *state) begin(now time.Duration) {
	for s.busy < maxJobs && len(s.ready) > 0 {
		e := s.ready[0]
		s.ready = s.ready[1:]
		if now >= e.deadline {
			s.advance(e.command.Channel)
			continue
		}
		s.begun = append(s.begun, e)
		s.busy++
	}
}

// advance makes the next job of a channel ready.
func (s *state) advance(channel string) {
	line := s.lines[channel][1:]
	if len(line) == 0 {
		delete(s.lines, channel)
		return
	}
	s.lines[channel] = line
	s.ready = append(s.ready, line[0])
}

// carried passes on an answer and makes the next job of the channel ready.
func (s *state) carried(m carried, now time.Duration) {
	if c := s.open(m.job.number); c != nil && c.set != nil {
		_ = json.Unmarshal(m.answer, c.set) // without a warning if the preview failed
		s.answer(m.job.number, c.set)
	} else {
		s.answerEncoded(m.job.number, m.answer)
	}
	s.busy--
	s.advance(m.job.command.Channel)
	s.begin(now)
}
