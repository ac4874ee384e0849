package recurring

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/routefinder"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/parameters"
	"candlemark/protocol"
)

// publish sends the message of a run to its queues at the end of the turn, or finishes a run that cannot be published. It returns false if
// the run has to wait, for permission to copy the message.
func (s *state) publish(f *flight) bool {
	x := f.x
	f.fired = s.now()
	spec := x.spec.Expand(func(name string) string { return x.spec.TemplateValue(name, f.at, f.shown()) })
	if len(spec.Key) > 255 || len(spec.Properties.CorrelationID) > 255 {
		return s.fail(f, Refused, "the routing key or the correlation-id has more than 255 bytes")
	}
	known, err := s.cfg.May(spec.User, spec.Exchange, spec.Key)
	x.noUser = !known
	if err != nil {
		return s.fail(f, Refused, err.Error())
	}
	dir := s.cfg.VHost.Directory()
	exchange := dir.Exchange([]byte(spec.Exchange))
	x.noTarget = exchange == nil
	switch {
	case exchange == nil:
		return s.fail(f, Unroutable, fmt.Sprintf("no exchange '%s' in vhost '%s'", spec.Exchange, s.cfg.VHost.Name))
	case exchange.Internal:
		return s.fail(f, Refused, fmt.Sprintf("cannot publish to internal exchange '%s' in vhost '%s'", exchange.Name, s.cfg.VHost.Name))
	}
	m := s.message(f, spec)
	if len(m.Header) > message.MaxHeader {
		return s.fail(f, Refused, "the properties are too large")
	}
	queues := s.finder.Find(dir, exchange, routefinder.Content{Header: m.Header}, m.RoutingKey, nil)
	x.noTarget = spec.ToQueue && len(queues) == 0
	switch err := s.finder.Refusal(); {
	case err != nil:
		return s.fail(f, Refused, err.Error())
	case s.finder.Over():
		return s.fail(f, Unroutable, "the message matches too many bindings")
	case len(queues) == 0 && len(s.finder.Histories()) == 0:
		return s.fail(f, Unroutable, "no queue for "+spec.Target())
	}
	queues = slices.Concat(queues, s.finder.Histories())
	if copies := topology.Copies(queues, len(m.Header)); copies > 0 && !s.cfg.Copies.Ask(copies) {
		s.hold(x)
		return false
	}
	x.wait = 0
	exchange.Count(1, uint64(len(queues)), s.at.Floor())
	s.send(f, &m, queues, spec.Overlap)
	return true
}

// fail finishes a run that is not published.
func (s *state) fail(f *flight, result Result, reason string) bool {
	f.result, f.reason = result, reason
	s.finish(f)
	return true
}

// send adds a message to the batches of its queues.
func (s *state) send(f *flight, m *message.Message, queues []*topology.Queue, overlap parameters.Overlap) {
	run := mail.Run{Schedule: f.x.spec.Incarnation, Time: f.at}
	switch overlap {
	case parameters.OverlapSkip:
		run.Overlap = mail.OverlapSkip
	case parameters.OverlapReplace:
		run.Overlap = mail.OverlapReplace
	case parameters.OverlapAllow:
	}
	if f.trigger != nil {
		run = mail.Run{}
	}
	if len(queues) > 1 {
		m.Spread = message.SpreadOf(len(queues))
	}
	if f.trigger == nil {
		f.x.open++
	}
	caps := s.finder.Caps()
	for i, q := range queues {
		e := s.batches[q]
		if e == nil {
			e = mail.NewEnqueue(s.self, q.PID)
			e.Table, e.Action = q.Table, q.Action
			s.batches[q] = e
			s.order = append(s.order, q)
		}
		copy := *m
		if i < len(caps) {
			copy.Cap(caps[i])
		}
		s.number++
		copy.Number = s.number
		s.copies[s.number] = copied{f, q.PID}
		f.copies++
		e.Messages, e.Runs = append(e.Messages, copy), append(e.Runs, run)
	}
}

// flush sends the batches of the turn.
func (s *state) flush() {
	for i, q := range s.order {
		if id := q.PID.GetId(); !s.watched[id] {
			s.watched[id] = true
			s.out.watch = append(s.out.watch, q.PID)
		}
		s.out.Send(q.PID, s.batches[q])
		delete(s.batches, q)
		s.order[i] = nil
	}
	s.order = s.order[:0]
	s.finder.Forget()
}

// message returns the message of a run (REC-5).
func (s *state) message(f *flight, spec *parameters.ScheduleSpec) message.Message {
	p := spec.Properties
	p.MessageID, p.Timestamp = spec.Name+"@"+parameters.RunDate(f.at, time.UTC), protocol.Timestamp(f.fired/1000)
	p.Headers = append(slices.Clone(p.Headers),
		protocol.Field{Key: "x-schedule", Value: spec.Name}, protocol.Field{Key: "x-schedule-time", Value: f.at},
		protocol.Field{Key: "x-schedule-by", Value: f.by}, protocol.Field{Key: "x-schedule-missed", Value: int64(f.missed)})
	if n := f.shown(); n > 0 {
		p.Headers = append(p.Headers, protocol.Field{Key: "x-schedule-run", Value: n})
	}
	p.Flags |= protocol.FlagMessageID | protocol.FlagTimestamp | protocol.FlagHeaders
	ttl := int64(message.NoTTL)
	if spec.Expires >= 0 {
		ttl = spec.Expires
	} else if spec.ExpiresNext {
		if next, _, ok := spec.Times.Next(f.at); ok {
			if ttl = max(next-f.fired, 0); f.by == byBackfill {
				ttl = next - f.at
			}
		}
	}
	if ttl >= 0 {
		p.Expiration, p.Flags = strconv.FormatInt(ttl, 10), p.Flags|protocol.FlagExpiration
	}
	return message.Message{
		Exchange: []byte(spec.Exchange), RoutingKey: []byte(spec.Key), Header: p.Append(nil), Body: spec.Body, TTL: ttl, Priority: p.Priority, Owned: true,
	}
}
