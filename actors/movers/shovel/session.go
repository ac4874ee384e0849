package shovel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"candlemark/internal/storage/parameters"

	amqp "github.com/rabbitmq/amqp091-go"
)

// retry is how long a refused message is kept before it is returned to the source, which would deliver it again at
// once.
const retry = time.Second

// session moves messages until there is an error or the end. It runs on a goroutine, as it waits for the network.
type session struct {
	*Config
	ctx    context.Context
	number uint64
	// changed is closed when Allowed has to be asked again.
	changed <-chan struct{}
	report  func(what any)

	source, destination *end
	progress            *progress
	route               amqp.Table // header entry of this session

	deliveries <-chan amqp.Delivery
	confirms   <-chan amqp.Confirmation
	returns    <-chan amqp.Return
	blocking   <-chan amqp.Blocking
	cancelled  <-chan string
	again      *time.Timer
	returning  bool // a timer for returning messages runs
	blocked    bool // the destination takes no messages
}

// run connects, moves messages, and returns why it ended; errFinished if no message is left to move.
func (s *session) run() error {
	err := s.prepare()
	defer func() {
		s.source.leave()
		s.destination.leave()
	}()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(s.ctx, s.cut)
	defer stop()
	s.report(&connected{s.number, s.source.uri.String(), s.destination.uri.String()})
	s.again = time.NewTimer(retry)
	s.again.Stop()
	defer s.again.Stop()
	for {
		s.count()
		if s.progress.done() {
			return errFinished
		}
		if err := s.step(); err != nil {
			return err
		}
	}
}

// cut ends all waits for the network.
func (s *session) cut() {
	for _, e := range []*end{s.source, s.destination} {
		if e != nil {
			_ = e.guard.SetDeadline(time.Now().Add(farewellTime)) // it may already be closed
			e.guard.open()
		}
	}
}

// prepare connects to both sides and starts to consume.
func (s *session) prepare() (err error) {
	s.changed = s.Changed()
	if err := s.Allowed(); err != nil {
		return err
	}
	if s.source, err = s.connect(s.Work.From.URIs, holding, false); err != nil {
		return fmt.Errorf("failed to connect to source: %w", err)
	}
	// Messages from this broker have user-ids that were checked when they were published.
	checked := s.source.direct && s.Work.Properties.UserID == nil
	if s.destination, err = s.connect(s.Work.To.URIs, -1, checked); err != nil {
		return fmt.Errorf("failed to connect to destination: %w", err)
	}
	s.route = s.routed()
	ctx, cancel := s.Clock.WithTimeout(s.ctx, patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = s.source.guard.Close()
		_ = s.destination.guard.Close()
	})()
	if err = s.prepareDestination(); err != nil {
		return fmt.Errorf("failed to set up the destination: %w", err)
	}
	if err = s.prepareSource(); err != nil && !errors.Is(err, errFinished) {
		return fmt.Errorf("failed to set up the source: %w", err)
	}
	return err
}

func (s *session) prepareDestination() error {
	to, e := &s.Work.To, s.destination
	if to.Queue != "" {
		if err := e.ensure(to.Queue, to.QueueArguments, to.Predeclared); err != nil {
			return err
		}
	}
	s.blocking = e.conn.NotifyBlocked(make(chan amqp.Blocking, 16))
	window := s.Work.From.Prefetch + 1 // the library must never wait for the session
	s.returns = e.ch.NotifyReturn(make(chan amqp.Return, window))
	if s.Work.AckMode != parameters.OnConfirm {
		return nil
	}
	s.confirms = e.ch.NotifyPublish(make(chan amqp.Confirmation, window))
	return e.ch.Confirm(false)
}

func (s *session) prepareSource() error {
	from, e := &s.Work.From, s.source
	queue, err := s.queue()
	if err != nil {
		return err
	}
	count := from.Until.Count
	if from.Until.Length {
		q, err := e.ch.QueueDeclarePassive(queue, false, false, false, false, nil)
		if err != nil {
			return err
		}
		count = int64(q.Messages)
	}
	if s.progress = newProgress(count); s.progress.done() {
		return errFinished
	}
	if err := e.ch.Qos(from.Prefetch, 0, false); err != nil {
		return err
	}
	s.cancelled = e.ch.NotifyCancel(make(chan string, 1))
	s.deliveries, err = e.ch.Consume(queue, "", false, false, false, false, tableOf(from.Consumer))
	return err
}

// queue returns the queue from which to consume. For an exchange, the shovel creates a queue that ends with it.
func (s *session) queue() (string, error) {
	from, e := &s.Work.From, s.source
	if from.Queue != "" {
		return from.Queue, e.ensure(from.Queue, from.QueueArguments, from.Predeclared)
	}
	q, err := e.ch.QueueDeclare("", false, false, true, false, nil)
	if err != nil {
		return "", err
	}
	return q.Name, e.ch.QueueBind(q.Name, from.Key, from.Exchange, false, nil)
}

// step waits for one event and handles it.
func (s *session) step() error {
	in := s.deliveries
	if s.blocked || !s.progress.open() {
		in = nil
	}
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-s.changed:
		s.changed = s.Changed()
		return s.Allowed()
	case d, more := <-in:
		if !more {
			return s.sourceEnded()
		}
		return s.move(&d)
	case c, more := <-s.confirms:
		if !more {
			return s.destinationEnded()
		}
		return s.confirmed(c)
	case r, more := <-s.returns:
		if !more {
			return s.destinationEnded()
		}
		return unroutable(&r)
	case b, more := <-s.blocking:
		if !more {
			return s.destinationEnded()
		}
		s.blocked = b.Active
		s.report(&blocked{s.number, b.Active})
		return nil
	case <-s.again.C:
		return s.requeueAtSource()
	case err := <-s.source.closed:
		return closedBy("source", err)
	case err := <-s.destination.closed:
		return closedBy("destination", err)
	}
}

// move publishes a delivery.
func (s *session) move(d *amqp.Delivery) error {
	s.progress.take()
	if s.Work.AckMode == parameters.NoAck {
		if err := s.ack(d.DeliveryTag, false, 1); err != nil {
			return err
		}
	}
	exchange, key := s.target(d)
	s.destination.guard.published.Add(1)
	// If the shovel has declared the queue, the publish is mandatory, to detect that the queue was deleted. To an
	// exchange it publishes like any client.
	err := s.destination.ch.PublishWithContext(s.ctx, exchange, key, s.Work.To.Queue != "", false, s.message(d, time.UnixMilli(s.Clock.Date(s.Clock.Now().Floor()))))
	if err != nil {
		return s.because(s.destination, "destination", err)
	}
	s.Handle.forwarded.Add(1)
	if s.Work.AckMode == parameters.OnConfirm {
		s.progress.publish(d.DeliveryTag)
		return nil
	}
	s.progress.moved()
	if s.Work.AckMode == parameters.OnPublish {
		return s.ack(d.DeliveryTag, false, 1)
	}
	return nil
}

// confirmed handles an answer, and all further answers that have arrived.
func (s *session) confirmed(c amqp.Confirmation) error {
	before := s.progress.answers
	for more := true; more; {
		// An unroutable message is returned before it is confirmed.
		select {
		case r, there := <-s.returns:
			if there {
				return unroutable(&r)
			}
		default:
		}
		tag, err := s.progress.answer(c.DeliveryTag, c.Ack)
		if err == nil && tag != 0 {
			err = s.ack(tag, false, 0)
		}
		if err != nil {
			return err
		}
		select {
		case c, more = <-s.confirms:
		default:
			more = false
		}
	}
	s.source.guard.letGo(int(s.progress.answers - before))
	if len(s.progress.refused) > 0 && !s.returning {
		s.returning = true
		s.again.Reset(retry)
	}
	if tag := s.progress.settle(); tag != 0 {
		return s.ack(tag, true, 0)
	}
	return nil
}

// ack acknowledges a delivery, and releases count held messages.
func (s *session) ack(tag uint64, upTo bool, count int) error {
	s.source.guard.letGo(count)
	if err := s.source.ch.Ack(tag, upTo); err != nil {
		return s.because(s.source, "source", err)
	}
	return nil
}

// requeueAtSource returns refused messages to the source, which delivers them again.
func (s *session) requeueAtSource() error {
	s.returning = false
	for _, tag := range s.progress.takeUnsettled() {
		if err := s.source.ch.Nack(tag, false, true); err != nil {
			return s.because(s.source, "source", err)
		}
	}
	return nil
}

// count publishes the progress of the session.
func (s *session) count() {
	h := s.Handle
	h.pending.Store(int64(len(s.progress.waiting)))
	h.toTake.Store(s.progress.toTake)
	h.toMove.Store(s.progress.toMove)
}

func (s *session) sourceEnded() error {
	select {
	case <-s.cancelled:
		return errors.New("the source cancelled the consumer: the queue was deleted or moved")
	default:
		return s.because(s.source, "source", errors.New("consumer ended"))
	}
}

func (s *session) destinationEnded() error {
	return s.because(s.destination, "destination", errors.New("channel ended"))
}

// because returns why a side failed: the error with which its connection ended, otherwise the given error. The library
// refuses to write to a closed channel before it reports why that was closed, which it does soon.
func (s *session) because(e *end, side string, otherwise error) error {
	if errors.Is(otherwise, amqp.ErrClosed) {
		select {
		case err := <-e.closed:
			return closedBy(side, err)
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	select {
	case err := <-e.closed:
		if err != nil {
			return closedBy(side, err)
		}
	default:
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return fmt.Errorf("%s: %w", side, otherwise)
}

func closedBy(side string, err *amqp.Error) error {
	if err == nil {
		return errors.New(side + " closed the connection")
	}
	return fmt.Errorf("%s closed the channel or connection: %d %s", side, err.Code, err.Reason)
}

func unroutable(r *amqp.Return) error {
	return fmt.Errorf("queue '%s' no longer exists at the destination", r.RoutingKey)
}
