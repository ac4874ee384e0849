package load

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
)

// Publishing has the settings of producers.
type Publishing struct {
	Exchange   string
	Key        func(producer int) string
	Mandatory  bool
	Properties protocol.Properties
	Size       int   // bytes of a body, at least MinSize
	Batch      int   // messages in a write; 0 for 64 KiB, at most 64
	Window     int   // publishes that may wait for confirms; 0 for no confirms
	Rate       Plan  // messages a second of each; none for as fast as it goes
	Limit      int64 // messages of each; 0 for any number
	TTL        TTL
	// Dress gives a message its TTL, and appends to dst the bytes to be written before it; nil: the message's
	// expiration is set.
	Dress func(dst []byte, p *wire.Publish, ttl time.Duration) []byte
	// Hold reports whether to wait; nil for never.
	Hold func() bool
}

// Producer is a connection that publishes on some channels.
type Producer struct {
	run   *Run
	how   *Publishing
	conn  client
	Lanes []*Lane
	read  sync.WaitGroup
	ended error // why; read it after read.Wait
}

// Lane is a channel that publishes.
type Lane struct {
	*Producer
	ID       uint32       // in the bodies
	Sent     int64        // messages; read it when Run has returned
	Refused  int64        // of them, with a nack; read it after Finish
	Returned atomic.Int64 // of them

	channel uint16
	head    head
	batch   *wire.Batch
	buf     []byte // of messages that differ
	one     wire.Publish
	open    *window
	closed  chan struct{}
}

// NewProducer connects. Its lanes have the numbers from first on.
func NewProducer(run *Run, how *Publishing, first, lanes int) (*Producer, error) {
	conn, err := run.dial(run.Wire)
	if err != nil {
		return nil, err
	}
	p := &Producer{run: run, how: how, conn: conn}
	for i := range lanes {
		l := &Lane{Producer: p, ID: uint32(first + i), channel: uint16(i + 1), closed: make(chan struct{})}
		l.newTemplate()
		if err := conn.Publisher(l.channel, &l.one, how.Window > 0); err != nil {
			_ = conn.Close()
			return nil, err
		}
		l.encode()
		p.Lanes = append(p.Lanes, l)
	}
	for _, l := range p.Lanes { // credit for the first may have arrived while the last was opened
		if credit := conn.Credit(l.channel); how.Window > 0 || credit < math.MaxUint64 {
			l.open = newWindow(how.Window, credit, run.Confirm.Shard(int(l.ID)))
		}
	}
	p.read.Go(p.listen)
	return p, nil
}

// size returns how many messages go in a write.
func (how *Publishing) size() int {
	n := how.Batch
	if n == 0 {
		n = max(1, min(64, (64<<10)/(how.Size+64)))
	}
	if how.Window > 0 {
		n = max(1, min(n, how.Window/2))
	}
	return n
}

// newTemplate makes a message as all are.
func (l *Lane) newTemplate() {
	how := l.how
	l.one = wire.Publish{
		Channel: l.channel, Exchange: how.Exchange, Key: how.Key(int(l.ID)), Mandatory: how.Mandatory,
		Properties: how.Properties, Body: make([]byte, max(how.Size, MinSize)),
	}
	l.head = head{run: l.run.ID, producer: l.ID}
}

// encode makes the batch, unless messages differ in more than their bodies.
func (l *Lane) encode() {
	how := l.how
	if how.TTL.IsZero() || how.TTL.Fixed() && how.Dress == nil {
		l.buf = l.withTTL(l.buf, how.TTL.Of(0))
		l.head.put(l.one.Body)
		l.batch = l.conn.Batch(how.size(), &l.one)
	}
}

// withTTL makes the next message one of a TTL.
func (l *Lane) withTTL(dst []byte, ttl time.Duration) []byte {
	l.head.ttl = int64(ttl)
	switch {
	case l.how.TTL.IsZero():
	case l.how.Dress != nil:
		dst = l.how.Dress(dst, &l.one, ttl)
	default:
		Expiring(&l.one, ttl)
	}
	return dst
}

// Expiring sets the expiration of a message.
func Expiring(p *wire.Publish, ttl time.Duration) {
	p.Properties.Flags |= protocol.FlagExpiration
	p.Properties.Expiration = strconv.FormatInt(ttl.Milliseconds(), 10)
}

// frames returns the next n messages.
func (l *Lane) frames(n int, now, start int64) []byte {
	lag := l.run.Lag.Shard(int(l.ID))
	l.buf = l.buf[:0]
	for i := range n {
		l.head.seq, l.head.sent, l.head.due = uint64(l.Sent)+uint64(i), now, now
		if !l.how.Rate.IsZero() {
			l.head.due = start + int64(l.how.Rate.When(float64(l.head.seq)))
			lag.Record(now - l.head.due)
		}
		if l.batch != nil {
			l.head.stamp(l.batch.Body(i, MinSize))
			continue
		}
		l.buf = l.withTTL(l.buf, l.how.TTL.Of(l.head.seq<<16|uint64(l.ID)))
		l.head.put(l.one.Body)
		l.buf = l.conn.Append(l.buf, &l.one)
	}
	if l.batch != nil {
		return l.batch.Bytes(n)
	}
	return l.buf
}

// Run publishes until the run is stopped or the limit is reached.
func (l *Lane) Run() error {
	how, pace := l.how, pacer{}
	if !how.Rate.IsZero() { // a goroutine that is tied to its thread costs more to wake
		pace = newPacer()
		defer pace.release()
	}
	most, start := how.size(), l.run.begin(how.Rate, l.ID, pace)
	for !l.run.Stop.Load() && (how.Limit == 0 || l.Sent < how.Limit) {
		if how.Hold != nil && how.Hold() {
			pace.sleep(100 * time.Microsecond)
			continue
		}
		n, now := most, wire.Now()
		if how.Limit > 0 {
			n = int(min(int64(n), how.Limit-l.Sent))
		}
		if !how.Rate.IsZero() {
			due := int64(how.Rate.Until(time.Duration(now-start))) + 1 - l.Sent
			if due <= 0 {
				wait := how.Rate.When(float64(l.Sent)) - time.Duration(now-start)
				pace.sleep(min(wait, 50*time.Millisecond))
				continue
			}
			n = int(min(int64(n), due))
		}
		if l.open != nil {
			var err error
			if n, now, err = l.open.reserve(n); err != nil {
				return l.failed(err)
			}
		}
		if _, err := l.conn.Write(l.frames(n, now, start)); err != nil {
			return l.failed(err)
		}
		l.Sent += int64(n)
		l.run.Sent.Add(int64(n))
	}
	return nil
}

// failed is err, or why the broker had ended the connection or the channel before.
func (l *Lane) failed(err error) error {
	_ = l.conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	l.read.Wait()
	var reason *wire.Closed
	if errors.As(l.ended, &reason) {
		err = reason
	}
	return fmt.Errorf("producer %d: %w", l.ID, err)
}

// listen reads confirms and returns.
func (p *Producer) listen() {
	var ev wire.Event
	for {
		err := p.conn.Next(&ev)
		if err == nil {
			err = p.conn.Closed(&ev)
		}
		if err != nil {
			p.ended = err
			for _, l := range p.Lanes {
				if l.open != nil {
					l.open.fail(err)
				}
			}
			_ = p.conn.Close() // writers and waiters see the error
			return
		}
		p.heard(&ev)
	}
}

func (p *Producer) heard(ev *wire.Event) {
	if at := int(ev.Channel) - 1; at >= 0 && at < len(p.Lanes) {
		switch l := p.Lanes[at]; ev.Kind {
		case wire.Ack, wire.Nack, wire.Credit:
			if l.open != nil {
				l.open.confirm(ev, p.conn.Stamp())
			}
		case wire.Return:
			l.Returned.Add(1)
		case wire.Method:
			if p.conn.Finished(ev) {
				close(l.closed)
			}
		default: // consumers get the rest
		}
	}
}

// Finish waits until the broker has taken everything, and disconnects. Run must have returned.
func (p *Producer) Finish(limit time.Duration) error {
	end := time.AfterFunc(limit, func() { _ = p.conn.Close() })
	defer end.Stop()
	var failed Group
	ended := make(chan struct{})
	go func() {
		p.read.Wait()
		close(ended)
	}()
	for _, l := range p.Lanes {
		failed.Go(func() error { return l.finish(ended) })
	}
	err := failed.Wait()
	if err == nil {
		_ = p.conn.End()
	}
	_ = p.conn.Close() // the broker has everything
	<-ended
	return err
}

func (l *Lane) finish(ended <-chan struct{}) error {
	if l.open != nil {
		err := l.open.drain()
		l.Refused = l.open.nacked
		if err != nil {
			return l.failed(err)
		}
	}
	if err := l.conn.Finish(l.channel); err != nil {
		return l.failed(err)
	}
	select {
	case <-l.closed:
		return nil
	case <-ended:
		return l.failed(errors.New("the connection has ended before the broker took everything"))
	}
}
