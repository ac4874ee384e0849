package integration

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"candlemark/cmd/candlemark-bench/bench/proc"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

var costMessages = flag.Int("cost", 2_000, "how many messages TestAMQP10_Cost sends in each turn")

// costs are the loads whose cost is compared: a number of queues, each with a producer and a consumer on connections of their
// own, and a number of unconfirmed messages per producer. 500 is the initial credit of a link.
var costs = []struct {
	name           string
	queues, window int
}{{"bulk", 1, 500}, {"chatty", 20, 1}}

// TestAMQP10_Cost asserts that the same messages arrive completely and in order over 0-9-1 and over 1.0, and logs the CPU time of
// the broker.
func TestAMQP10_Cost(t *testing.T) {
	besideOthers(t, "cost")
	protocols := []struct {
		name          string
		send, receive func(b *broker, queue string, count, window int) error
	}{{"0-9-1", send091, receive091}, {"1.0", send10, receive10}}
	for _, load := range costs {
		for _, p := range protocols {
			b := start(t)
			ends := make(chan error, 2*load.queues)
			broker, err := proc.Find([]int{b.cmd.Process.Pid}, "")
			if err != nil {
				t.Skip(err)
			}
			each := *costMessages / load.queues
			before, began := broker.Sample(), time.Now()
			for i := range load.queues {
				q := fmt.Sprint("q", i)
				b.request("PUT", "/api/queues/%2F/"+q, `{}`, http.StatusCreated)
				go func() { ends <- p.send(b, q, each, load.window) }()
				go func() { ends <- p.receive(b, q, each, load.window) }()
			}
			for range cap(ends) {
				if err := <-ends; err != nil {
					t.Fatalf("%s over %s: %v", load.name, p.name, err)
				}
			}
			took, spent, count := time.Since(began), broker.Sample().CPU-before.CPU, float64(each*load.queues)
			t.Logf("%s over %s: %.0f messages/s, %.2f CPU-s/M", load.name, p.name, count/took.Seconds(), spent/count*1e6)
			b.stop()
		}
	}
}

// numbered returns the body of a message.
func numbered(i int) []byte { return fmt.Appendf(nil, "%0100d", i) }

func inOrder(body []byte, i int) error {
	if got := string(body); got != fmt.Sprintf("%0100d", i) {
		return fmt.Errorf("message %d came as %q", i, got)
	}
	return nil
}

func send091(b *broker, queue string, count, window int) error {
	conn, err := amqp091.Dial("amqp://guest:guest@" + b.amqp)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		return err
	}
	confirms := ch.NotifyPublish(make(chan amqp091.Confirmation, window))
	for i := range count + window {
		if i >= window {
			if c := <-confirms; !c.Ack {
				return fmt.Errorf("message %d was not confirmed", c.DeliveryTag)
			}
		}
		if i < count {
			if err := ch.PublishWithContext(b.Context(), "", queue, false, false, amqp091.Publishing{Body: numbered(i)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func receive091(b *broker, queue string, count, window int) error {
	conn, err := amqp091.Dial("amqp://guest:guest@" + b.amqp)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Qos(window, 0, false)
	}
	if err != nil {
		return err
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	for i := range count {
		d := <-deliveries
		if err := inOrder(d.Body, i); err != nil {
			return err
		}
		if err := d.Ack(false); err != nil {
			return err
		}
	}
	return ch.Close() // after the last acknowledgement
}

func session10(b *broker) (*amqp.Conn, *amqp.Session, error) {
	conn, err := amqp.Dial(b.Context(), "amqp://guest:guest@"+b.amqp, nil)
	if err != nil {
		return nil, nil, err
	}
	s, err := conn.NewSession(b.Context(), nil)
	return conn, s, err
}

func send10(b *broker, queue string, count, window int) error {
	conn, session, err := session10(b)
	if err != nil {
		return err
	}
	defer conn.Close()
	s, err := session.NewSender(b.Context(), "/queues/"+queue, nil)
	if err != nil {
		return err
	}
	receipts := make([]amqp.SendReceipt, window)
	for i := range count + window {
		if i >= window {
			outcome, err := receipts[i%window].Wait(b.Context())
			if _, accepted := outcome.(*amqp.StateAccepted); err != nil || !accepted {
				return fmt.Errorf("message %d: %v, %v", i-window, outcome, err)
			}
		}
		if i < count {
			m := amqp.NewMessage(numbered(i))
			m.Header = &amqp.MessageHeader{Durable: false}
			if receipts[i%window], err = s.SendWithReceipt(b.Context(), m, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func receive10(b *broker, queue string, count, window int) error {
	conn, session, err := session10(b)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, err := session.NewReceiver(b.Context(), "/queues/"+queue, &amqp.ReceiverOptions{Credit: int32(window)})
	if err != nil {
		return err
	}
	for i := range count {
		m, err := r.Receive(b.Context(), nil)
		if err != nil {
			return err
		}
		if err := inOrder(m.GetData(), i); err != nil {
			return err
		}
		if err := r.AcceptMessage(b.Context(), m); err != nil {
			return err
		}
	}
	return r.Close(context.WithoutCancel(b.Context())) // after the last disposition
}
