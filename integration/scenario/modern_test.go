package scenario

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
	classic "github.com/rabbitmq/amqp091-go"
)

// fate is how a delivery is settled.
type fate int

const (
	accept fate = iota
	reject
	requeue
)

// modern adds to a client a session of AMQP 1.0, with a link for each queue and direction.
type modern struct {
	conn10    *amqp.Conn
	session   *amqp.Session
	senders   map[string]*amqp.Sender
	receivers map[string]*amqp.Receiver
	receipts  chan publish
}

// publish is a publish without an outcome yet.
type publish struct {
	body    string
	receipt amqp.SendReceipt
}

// credit is the credit of a consumer without prefetch.
const credit = 1000

func (c *client) openSession() {
	c.Helper()
	c.endSession()
	var err error
	if c.conn10 == nil {
		ours, theirs := net.Pipe()
		c.Node.Connect(ours)
		opts := &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("guest", "guest"), IdleTimeout: -1, WriteTimeout: -1, HostName: "localhost"}
		if c.conn10, err = amqp.NewConn(context.Background(), theirs, opts); err != nil {
			c.Fatal(err)
		}
	}
	if c.session, err = c.conn10.NewSession(context.Background(), nil); err != nil {
		c.Fatal(err)
	}
	c.senders, c.receivers, c.receipts = map[string]*amqp.Sender{}, map[string]*amqp.Receiver{}, make(chan publish, 1<<10)
	go c.outcomes(c.receipts)
}

// endSession ends the session.
func (c *client) endSession() {
	if c.session != nil {
		close(c.receipts)
		_ = c.session.Close(context.Background()) // the broker may have ended it already
		c.session = nil
	}
}

// hangUp closes the connection of AMQP 1.0.
func (c *client) hangUp() {
	c.endSession()
	if c.conn10 != nil {
		_ = c.conn10.Close() // the broker may have closed it already
	}
}

// outcomes records the outcomes of publishes, in order.
func (c *client) outcomes(receipts <-chan publish) {
	for p := range receipts {
		state, err := p.receipt.Wait(context.Background())
		if err != nil {
			continue // the link is gone
		}
		what := "confirmed"
		if _, refused := state.(*amqp.StateRejected); refused {
			what = "refused"
		}
		c.see(confirmed, what, p.body, "")
	}
}

// address returns the address of a queue, or of an exchange with a key.
func (c *client) address(exchange, key string) string {
	switch {
	case exchange != "":
		return strings.TrimSuffix("/exchanges/"+exchange+"/"+key, "/")
	case c.dialect == azure:
		return key
	}
	return "/queues/" + key
}

// send publishes m over AMQP 1.0 with each of the bodies.
func (c *client) send(exchange, key string, m classic.Publishing, bodies []string) {
	c.Helper()
	address := c.address(exchange, key)
	s := c.senders[address]
	if s == nil {
		var err error
		if s, err = c.session.NewSender(context.Background(), address, nil); err != nil {
			c.Fatalf("%s: %v", c.name, err)
		}
		c.senders[address] = s
	}
	for _, body := range bodies {
		receipt, err := s.SendWithReceipt(context.Background(), c.message(m, body), nil)
		if err != nil {
			c.Fatalf("%s: %v", c.name, err)
		}
		c.receipts <- publish{body, receipt}
	}
}

func (c *client) message(m classic.Publishing, body string) *amqp.Message {
	out := amqp.NewMessage([]byte(body))
	out.Header = &amqp.MessageHeader{Durable: m.DeliveryMode == classic.Persistent, Priority: m.Priority}
	if m.MessageId != "" {
		out.Properties = &amqp.MessageProperties{MessageID: m.MessageId}
	}
	if m.Expiration != "" {
		ms, err := strconv.Atoi(m.Expiration)
		if err != nil {
			c.Fatal(err)
		}
		out.Header.TTL = time.Duration(ms) * time.Millisecond
	}
	out.Annotations = amqp.Annotations{}
	for name, value := range m.Headers {
		if name == "x-delay" && c.dialect == azure {
			out.Annotations["x-opt-scheduled-enqueue-time"] = time.Now().Add(time.Duration(value.(int64)) * time.Millisecond)
			continue
		}
		if name == "CC" {
			name = "x-cc"
		}
		out.Annotations[name] = value
	}
	return out
}

// receiver attaches to a queue, without credit.
func (c *client) receiver(queue string, settled bool, args classic.Table) *amqp.Receiver {
	c.Helper()
	opts := &amqp.ReceiverOptions{Credit: -1, Properties: map[string]any{}}
	switch {
	case settled:
		opts.RequestedSenderSettleMode = amqp.SenderSettleModeSettled.Ptr()
	case c.dialect == azure:
		opts.SettlementMode = amqp.ReceiverSettleModeSecond.Ptr()
	}
	if priority, ok := args["x-priority"].(int64); ok {
		opts.Properties["rabbitmq:priority"] = int32(priority)
	}
	r, err := c.session.NewReceiver(context.Background(), c.address("", queue), opts)
	if err != nil {
		c.Fatalf("%s: %v", c.name, err)
	}
	return r
}

// received records a delivery, and keeps a function to settle it, which calls more afterwards.
func (c *client) received(order int, queue string, r *amqp.Receiver, m *amqp.Message, settled bool, tail string, more func()) {
	body := string(m.GetData())
	if !settled {
		c.unacked.Store(body, func(to fate) (err error) {
			ctx := context.Background()
			switch to {
			case accept:
				err = r.AcceptMessage(ctx, m)
			case reject:
				err = r.RejectMessage(ctx, m, nil)
			case requeue:
				err = r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{DeliveryFailed: true})
			}
			if errors.As(err, new(*amqp.LinkError)) {
				return nil // as for an ack in 0-9-1, there is no answer
			}
			more()
			return err
		})
	}
	redelivered := !m.Header.FirstAcquirer
	if m.Annotations["x-opt-sequence-number"] != nil { // an entity of Azure Service Bus, which returns first-acquirer as sent (SBE-19)
		redelivered = m.Header.DeliveryCount > 0
	} else if m.Annotations["x-opt-deaths"] != nil { // a dead letter is never at its first acquirer, redelivered or not
		redelivered = m.Header.FirstAcquirer
	}
	c.seeDelivery(order, queue, body, tail, redelivered, deaths(m))
}

// deaths returns x-opt-deaths in the form of history.
func deaths(m *amqp.Message) (text string) {
	all, _ := m.Annotations["x-opt-deaths"].([]map[any]any)
	for _, death := range all {
		text += fmt.Sprintf(", %s in %s", death["reason"], death["queue"])
		if n := fmt.Sprint(death["count"]); n != "1" {
			text += fmt.Sprintf(" %s times", n)
		}
	}
	if m.Header.DeliveryCount > 0 && all == nil { // the count of a dead letter continues, unlike x-delivery-count (DL-9)
		text += fmt.Sprintf(", came back %v times", m.Header.DeliveryCount)
	}
	return text
}

// take receives one message if one is ready.
func (c *client) take(queue string, unacked bool) {
	c.Helper()
	r := c.receiver(queue, !unacked, nil)
	if err := r.IssueCredit(1); err != nil {
		c.Fatalf("%s: %v", c.name, err)
	}
	c.Advance(0)
	m := r.Prefetched()
	if m == nil && c.Describe(queue).Ready > 0 { // it must be read from disk
		c.Advance(time.Millisecond)
		m = r.Prefetched()
	}
	if err := r.DrainCredit(context.Background(), nil); err != nil { // go-amqp sends the drain with a link-credit of 0
		c.Fatalf("%s: %v", c.name, err)
	}
	leave := func() {
		if err := r.Close(context.Background()); err != nil {
			c.Fatalf("%s: %v", c.name, err)
		}
	}
	if m == nil {
		c.see(answer, queue, "is empty", "")
	} else {
		c.received(answer, queue, r, m, !unacked, fmt.Sprintf(" (%d left)", c.Describe(queue).Ready), leave)
	}
	if m == nil || !unacked {
		leave()
	}
}

// attach starts a consumer.
func (c *client) attach(queue string, settled bool, prefetch int, args classic.Table) {
	c.Helper()
	r := c.receiver(queue, settled, args)
	c.receivers[queue] = r
	more := func() {
		if err := r.IssueCredit(1); err != nil && !errors.As(err, new(*amqp.LinkError)) {
			c.Errorf("%s: %v", c.name, err)
		}
	}
	if prefetch == 0 {
		prefetch = credit
	}
	if err := r.IssueCredit(uint32(prefetch)); err != nil {
		c.Fatalf("%s: %v", c.name, err)
	}
	go func() {
		for {
			m, err := r.Receive(context.Background(), nil)
			var gone *amqp.LinkError
			switch {
			case errors.As(err, &gone) && gone.RemoteErr != nil:
				c.see(cancelled, "consumer cancelled:", fmt.Sprintf("%s of %s", queue, c.name), "")
				return
			case err != nil:
				return
			}
			c.received(delivered, queue, r, m, settled, "", more)
			if settled {
				more()
			}
		}
	}()
}

// detach ends a consumer; its unsettled deliveries are requeued.
func (c *client) detach(queue string) {
	if err := c.receivers[queue].Close(context.Background()); err != nil {
		c.Fatalf("%s: %v", c.name, err)
	}
	delete(c.receivers, queue)
}
