package load

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
)

// replyTo is a pseudo-queue: the broker sends messages for its address directly to the channel that asked.
const replyTo = "amq.rabbitmq.reply-to"

// Calling has the settings of callers.
type Calling struct {
	Publishing
	Queue string // where the servers are
	// Direct: answers come by amq.rabbitmq.reply-to, not through a queue of each caller's.
	Direct bool
	// Timeout of a call.
	Timeout time.Duration
}

// Caller publishes a message and waits for its answer, over and over.
type Caller struct {
	ID      uint32
	Sent    int64         // calls
	Answers *verify.Queue // what came back

	run      *Run
	how      *Calling
	conn     *wire.Conn
	batch    *wire.Batch
	reader   verify.Reader
	took     *stats.Shard
	lag      *stats.Shard
	fromSend *stats.Shard
}

// NewCaller connects, and subscribes to its answers.
func NewCaller(run *Run, how *Calling, id int) (*Caller, error) {
	conn, err := wire.Dial(run.Wire)
	if err != nil {
		return nil, err
	}
	c := &Caller{
		ID: uint32(id), run: run, how: how, conn: conn, Answers: &verify.Queue{},
		took: run.Latency.Shard(id), lag: run.Lag.Shard(id), fromSend: run.FromWrite.Shard(id),
	}
	if err := c.listen(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// listen makes the place where answers come.
func (c *Caller) listen() error {
	queue := replyTo
	if !c.how.Direct {
		if err := c.conn.Open(2); err != nil {
			return err
		}
		m, err := c.conn.Call(2, &protocol.QueueDeclare{Exclusive: true, AutoDelete: true})
		made, ok := m.(*protocol.QueueDeclareOk)
		if !ok {
			return errors.Join(errors.New("no queue for answers"), err)
		}
		queue = made.Queue
	}
	if err := c.conn.Subscribe(1, queue, wire.Subscription{AutoAck: true}, nil); err != nil {
		return err
	}
	p := c.how.Properties
	p.Flags |= protocol.FlagReplyTo | protocol.FlagCorrelationID
	p.ReplyTo, p.CorrelationID = queue, fmt.Sprint(c.ID)
	body := make([]byte, max(c.how.Size, MinSize))
	(&head{run: c.run.ID, producer: c.ID}).put(body)
	c.batch = c.conn.Batch(1, &wire.Publish{Channel: 1, Key: c.how.Queue, Properties: p, Body: body})
	return nil
}

// Run calls until the run is stopped or the limit is reached.
func (c *Caller) Run() error {
	how, pace := c.how, pacer{}
	if !how.Rate.IsZero() {
		pace = newPacer()
		defer pace.release()
	}
	start := c.run.begin(how.Rate, c.ID, pace)
	for !c.run.Stop.Load() && (how.Limit == 0 || c.Sent < how.Limit) {
		h := head{seq: uint64(c.Sent)}
		h.sent = wire.Now()
		h.due = h.sent
		if !how.Rate.IsZero() {
			h.due = start + int64(how.Rate.When(float64(c.Sent)))
			if h.due > h.sent {
				pace.sleep(min(time.Duration(h.due-h.sent), 50*time.Millisecond))
				continue
			}
			c.lag.Record(h.sent - h.due)
		}
		h.stamp(c.batch.Body(0, MinSize))
		c.Sent++
		c.run.Sent.Add(1)
		if err := c.call(&h); err != nil {
			return errors.Join(fmt.Errorf("caller %d: %w", c.ID, err), c.conn.Close())
		}
	}
	return c.conn.Leave()
}

// call sends and waits for the answer.
func (c *Caller) call(h *head) error {
	_ = c.conn.SetDeadline(time.Now().Add(c.how.Timeout))
	if _, err := c.conn.Write(c.batch.Bytes(1)); err != nil {
		return c.conn.Why(err)
	}
	var ev wire.Event
	for {
		if err := c.conn.Next(&ev); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = fmt.Errorf("no answer within %s", c.how.Timeout)
			}
			return err
		}
		var answer head
		switch {
		case ev.Kind != wire.Deliver:
			if err := c.conn.Closed(&ev); err != nil {
				return err
			}
			continue
		case !answer.read(ev.Body, c.run.ID) || answer.producer != c.ID:
			c.Answers.TakeForeign(1)
			continue
		}
		c.Answers.Take(&c.reader, []verify.ID{{Producer: c.ID, Seq: answer.seq, Redelivered: ev.Flag}})
		c.run.Got.Add(1)
		if answer.seq != h.seq {
			continue // the book has it
		}
		c.took.Record(c.conn.Stamp() - h.due)
		if !c.how.Rate.IsZero() {
			c.fromSend.Record(c.conn.Stamp() - h.sent)
		}
		return nil
	}
}

// Server answers calls with what they say.
type Server struct {
	conn    *wire.Conn
	how     *Consuming
	stopped atomic.Bool
}

// NewServer connects and subscribes to the queue of calls.
func NewServer(run *Run, how *Consuming, queue string) (*Server, error) {
	conn, err := wire.Dial(run.Wire)
	if err != nil {
		return nil, err
	}
	if err := conn.Subscribe(1, queue, how.subscription(), nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Server{conn: conn, how: how}, nil
}

// Run answers until Stop. Requests that arrive together are answered and acknowledged in one write.
func (s *Server) Run() error {
	var ev wire.Event
	var out []byte
	for {
		err := s.conn.Next(&ev)
		switch {
		case err != nil && s.stopped.Load() && errors.Is(err, os.ErrDeadlineExceeded):
			return s.conn.Leave()
		case err == nil && ev.Kind == wire.Deliver:
			out, err = s.answer(out, &ev)
		case err == nil:
			err = s.conn.Closed(&ev)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("server: %w", err), s.conn.Close())
		}
	}
}

// answer appends the answer to a call to out, and writes all when nothing more has arrived.
func (s *Server) answer(out []byte, ev *wire.Event) ([]byte, error) {
	call, err := protocol.ScanProperties(ev.Properties)
	if err != nil {
		return out, err
	}
	p := protocol.Properties{Flags: protocol.FlagCorrelationID, CorrelationID: string(call.CorrelationID)}
	out, _ = (&wire.Publish{Channel: 1, Key: string(call.ReplyTo), Properties: p, Body: ev.Body}).Append(out, s.conn.FrameMax)
	if s.conn.Buffered() {
		return out, nil
	}
	if !s.how.AutoAck {
		out = protocol.AppendAckFrame(out, 1, ev.Tag, true)
	}
	_, err = s.conn.Write(out)
	return out[:0], err
}

// Stop makes Run return.
func (s *Server) Stop() {
	s.stopped.Store(true)
	_ = s.conn.SetReadDeadline(time.Now()) // a closed connection needs no deadline
}
