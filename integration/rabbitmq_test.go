package integration

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	amqp "github.com/Azure/go-amqp"
	rmq "github.com/rabbitmq/rabbitmq-amqp-go-client/pkg/rabbitmqamqp"
)

// rabbitmq is a connection of RabbitMQ's client for AMQP 1.0.
type rabbitmq struct {
	*testing.T
	ctx  context.Context
	conn *rmq.AmqpConnection
	m    *rmq.AmqpManagement
}

func connectRabbitMQ(t *testing.T, b *broker) *rabbitmq {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	conn, err := rmq.NewEnvironment("amqp://guest:guest@"+b.amqp, nil).NewConnection(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &rabbitmq{t, ctx, conn, conn.Management()}
}

func (r *rabbitmq) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// publish publishes to an address and returns the outcomes.
func (r *rabbitmq) publish(to rmq.ITargetAddress, bodies ...string) (outcomes []rmq.DeliveryState) {
	r.Helper()
	p, err := r.conn.NewPublisher(r.ctx, to, nil)
	r.ok(err)
	for _, body := range bodies {
		result, err := p.Publish(r.ctx, rmq.NewMessage([]byte(body)))
		r.ok(err)
		outcomes = append(outcomes, result.Outcome)
	}
	r.ok(p.Close(r.ctx))
	return outcomes
}

// receive receives one message.
func (r *rabbitmq) receive(c *rmq.Consumer, want string) rmq.IDeliveryContext {
	r.Helper()
	d, err := c.Receive(r.ctx)
	r.ok(err)
	if got := string(d.Message().GetData()); got != want {
		r.Fatalf("got %q, want %q", got, want)
	}
	return d
}

// Queues, exchanges and bindings as RabbitMQ's client declares, describes, purges and deletes them.
func TestRabbitMQClient_Topology(t *testing.T) {
	t.Parallel()
	r := connectRabbitMQ(t, start(t))
	_, err := r.m.DeclareExchange(r.ctx, &rmq.TopicExchangeSpecification{Name: "x"})
	r.ok(err)
	_, err = r.m.DeclareExchange(r.ctx, &rmq.FanOutExchangeSpecification{Name: "y"})
	r.ok(err)
	if _, err = r.m.DeclareExchange(r.ctx, &rmq.FanOutExchangeSpecification{Name: "x"}); !errors.Is(err, rmq.ErrPreconditionFailed) {
		t.Error(err)
	}
	q, err := r.m.DeclareQueue(r.ctx, &rmq.QuorumQueueSpecification{Name: "q/ä 1", DeliveryLimit: 3, MaxLength: 50})
	r.ok(err)
	if q.Name() != "q/ä 1" || q.Type() != rmq.Quorum || !q.IsDurable() || len(q.Members()) != 1 || q.Leader() == "" || q.Arguments()["x-delivery-limit"] != int64(3) {
		t.Errorf("%+v", q)
	}
	_, err = r.m.DeclareQueue(r.ctx, &rmq.ClassicQueueSpecification{Name: "c", IsAutoDelete: true, IsExclusive: true})
	r.ok(err)
	if _, err = r.m.DeclareQueue(r.ctx, &rmq.ClassicQueueSpecification{Name: "q/ä 1"}); !errors.Is(err, rmq.ErrPreconditionFailed) {
		t.Error(err)
	}
	path, err := r.m.Bind(r.ctx, &rmq.ExchangeToQueueBindingSpecification{SourceExchange: "y", DestinationQueue: "q/ä 1"})
	r.ok(err)
	between, err := r.m.Bind(r.ctx, &rmq.ExchangeToExchangeBindingSpecification{SourceExchange: "x", DestinationExchange: "y", BindingKey: "a.#"})
	r.ok(err)
	for _, o := range r.publish(&rmq.ExchangeAddress{Exchange: "x", Key: "a.b c"}, "1", "2") {
		if _, ok := o.(*rmq.StateAccepted); !ok {
			t.Errorf("%T", o)
		}
	}
	q, err = r.m.QueueInfo(r.ctx, "q/ä 1")
	r.ok(err)
	if q.MessageCount() != 2 || q.ConsumerCount() != 0 {
		t.Errorf("%+v", q)
	}
	if n, err := r.m.PurgeQueue(r.ctx, "q/ä 1"); n != 2 || err != nil {
		t.Error(n, err)
	}
	r.ok(r.m.Unbind(r.ctx, between))
	r.ok(r.m.Unbind(r.ctx, path))
	if o := r.publish(&rmq.ExchangeAddress{Exchange: "x", Key: "a.b"}, "3"); len(o) != 1 {
		t.Error(o)
	} else if _, ok := o[0].(*rmq.StateReleased); !ok {
		t.Errorf("%T", o[0])
	}
	r.ok(r.m.DeleteQueue(r.ctx, "q/ä 1"))
	r.ok(r.m.DeleteExchange(r.ctx, "x"))
	r.ok(r.m.DeleteExchange(r.ctx, "y"))
	if _, err = r.m.QueueInfo(r.ctx, "q/ä 1"); !errors.Is(err, rmq.ErrDoesNotExist) {
		t.Error(err)
	}
}

// All outcomes, as publisher and as consumer, and deliveries that are settled when they are sent.
func TestRabbitMQClient_Outcomes(t *testing.T) {
	t.Parallel()
	r := connectRabbitMQ(t, start(t))
	for _, q := range []rmq.IQueueSpecification{
		&rmq.QuorumQueueSpecification{Name: "dead"}, &rmq.QuorumQueueSpecification{Name: "q", DeadLetterExchange: "amq.direct", DeadLetterRoutingKey: "dead"},
		&rmq.ClassicQueueSpecification{Name: "full", MaxLength: 1, OverflowStrategy: &rmq.RejectPublishOverflowStrategy{}},
	} {
		_, err := r.m.DeclareQueue(r.ctx, q)
		r.ok(err)
	}
	_, err := r.m.Bind(r.ctx, &rmq.ExchangeToQueueBindingSpecification{SourceExchange: "amq.direct", DestinationQueue: "dead", BindingKey: "dead"})
	r.ok(err)
	for _, o := range r.publish(&rmq.QueueAddress{Queue: "full"}, "1", "2")[1:] {
		if _, ok := o.(*rmq.StateRejected); !ok {
			t.Errorf("%T", o)
		}
	}
	r.publish(&rmq.QueueAddress{Queue: "q"}, "requeued")
	c, err := r.conn.NewConsumer(r.ctx, "q", &rmq.ConsumerOptions{InitialCredits: 1})
	r.ok(err)
	r.ok(r.receive(c, "requeued").Requeue(r.ctx))
	r.ok(r.receive(c, "requeued").RequeueWithAnnotations(r.ctx, amqp.Annotations{"x-opt-mine": "1"}))
	r.ok(r.receive(c, "requeued").Accept(r.ctx))
	r.publish(&rmq.QueueAddress{Queue: "q"}, "discarded", "discarded too")
	r.ok(r.receive(c, "discarded").Discard(r.ctx, &amqp.Error{Condition: "a", Description: "b"}))
	r.ok(r.receive(c, "discarded too").DiscardWithAnnotations(r.ctx, amqp.Annotations{"x-opt-mine": "1"}))
	r.ok(c.Close(r.ctx))
	c, err = r.conn.NewConsumer(r.ctx, "dead", &rmq.ConsumerOptions{InitialCredits: 10, SettleStrategy: rmq.PreSettled})
	r.ok(err)
	var dead []string
	for range 2 {
		d, err := c.Receive(r.ctx)
		r.ok(err)
		dead = append(dead, string(d.Message().GetData()))
	}
	slices.Sort(dead)
	if !slices.Equal(dead, []string{"discarded", "discarded too"}) {
		t.Error(dead)
	}
	r.ok(c.Close(r.ctx))
	for _, name := range []string{"dead", "q"} {
		if q, err := r.m.QueueInfo(r.ctx, name); err != nil || q.MessageCount() != 0 {
			t.Errorf("%s: %+v %v", name, q, err)
		}
	}
}

// A requester without a queue of its own gets the answers to its requests.
func TestRabbitMQClient_DirectReplyTo(t *testing.T) {
	t.Parallel()
	r := connectRabbitMQ(t, start(t))
	_, err := r.m.DeclareQueue(r.ctx, &rmq.ClassicQueueSpecification{Name: "requests"})
	r.ok(err)
	asked := make(chan struct{}) // the client forgets an answer that is faster than the outcome of its request
	responder, err := r.conn.NewResponder(r.ctx, rmq.ResponderOptions{RequestQueue: "requests", Handler: func(_ context.Context, m *amqp.Message) (*amqp.Message, error) {
		<-asked
		return amqp.NewMessage(append([]byte("re: "), m.GetData()...)), nil
	}})
	r.ok(err)
	requester, err := r.conn.NewRequester(r.ctx, &rmq.RequesterOptions{RequestQueueName: "requests", SettleStrategy: rmq.DirectReplyTo})
	r.ok(err)
	for _, body := range []string{"1", "2"} {
		answers, err := requester.Publish(r.ctx, requester.Message([]byte(body)))
		r.ok(err)
		asked <- struct{}{}
		select {
		case m := <-answers:
			if got := string(m.GetData()); got != "re: "+body {
				t.Errorf("got %q", got)
			}
		case <-r.ctx.Done():
			t.Fatal("no answer")
		}
	}
	r.ok(requester.Close(r.ctx))
	r.ok(responder.Close(r.ctx))
}
