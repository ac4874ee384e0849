package channel

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

func global(n uint16) *protocol.BasicQos { return &protocol.BasicQos{PrefetchCount: n, Global: true} }

func (r *rig) offers(tag string, n int) {
	r.turn(&mail.QosOffer{Queue: r.consumersPID(tag), Messages: n})
}

func (r *rig) consumersPID(tag string) mail.Address {
	if c := r.consumers[tag]; c != nil {
		return c.Queue.Address
	}
	return pid("q1")
}

// The consumers of a channel share the limit; offers are served in order of arrival.
func TestGlobalQos_Shared(t *testing.T) {
	r := newRig(t)
	r.command(global(3))
	r.received("basic.qos-ok")
	r.command(&protocol.BasicConsume{Queue: "q1", ConsumerTag: "a"})
	if !r.asked[0].(*mail.Consume).Limited {
		t.Error("the queue must know of the limit")
	}
	r.succeed()
	r.frames()
	r.posts = nil
	r.consumes("b", "q2")
	r.offers("a", 2)
	r.offers("b", 5)
	r.sent("q1: allow 2", "q2: allow 1")
	r.offers("a", 9)
	r.sent("q2: reclaim")
	r.delivers("q1", "a", 1, "m1", "m2")
	r.sent()
	r.command(&protocol.BasicAck{DeliveryTag: 1})
	r.sent("q1: settle 1-1 ack", "q1: allow 1")
	r.turn(&mail.QosUnused{Queue: pid("q2"), Messages: 1}) // q2 ran empty
	r.offers("b", 1)
	r.sent("q2: allow 1")
	r.command(&protocol.BasicAck{Multiple: true})
	r.sent("q1: settle 2-2 ack")
	r.offers("a", 10)
	r.sent("q1: allow 1")
}

// A requeued message goes before waiting ones: its queue receives the settlement before it is allowed another message.
func TestGlobalQos_RequeuedFirst(t *testing.T) {
	r := newRig(t)
	r.command(global(1))
	r.received("basic.qos-ok")
	r.consumes("a", "q1")
	r.offers("a", 5)
	r.sent("q1: allow 1")
	r.delivers("q1", "a", 1, "m1")
	r.offers("a", 4)
	r.sent()
	r.command(&protocol.BasicReject{DeliveryTag: 1, Requeue: true})
	r.sent("q1: settle 1-1 requeue", "q1: allow 1")
}

// Messages unacked when the limit is set count, as in RabbitMQ; messages from basic.get never do.
func TestGlobalQos_CountsWhatIsOut(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2", "m3")
	r.command(&protocol.BasicGet{Queue: "q2"})
	r.turn(&mail.GetReply{Reply: requestOf(r.asked[0]).Done(nil), Queue: pid("q2"), Delivery: mail.Delivery{Number: 1}})
	r.asked, r.posts = nil, nil
	r.command(global(2))
	r.sent("q1: limit true")
	r.offers("a", 5)
	r.sent()
	r.command(&protocol.BasicAck{DeliveryTag: 4})
	r.sent("q2: settle 1-1 ack")
	r.command(&protocol.BasicAck{DeliveryTag: 2, Multiple: true})
	r.sent("q1: settle 1-2 ack", "q1: allow 1")
	r.command(global(4)) // higher
	r.sent()
	r.offers("a", 5)
	r.sent("q1: allow 2")
	r.command(global(0))
	r.sent("q1: limit false")
	r.turn(&mail.QosUnused{Queue: pid("q1"), Messages: 3})
	r.offers("a", 5) // sent before the queue knew
	r.sent()
	if unacked, allowed := r.queues.Unacked.Limit.Load(); allowed != 0 || unacked != 1 {
		t.Errorf("%+v", r.queues.Unacked.Limit)
	}
}

// basic.qos without global sets the prefetch of later consumers and removes the channel's limit, as in RabbitMQ.
func TestQos_PerConsumer(t *testing.T) {
	r := newRig(t)
	r.command(global(5))
	r.command(&protocol.BasicQos{PrefetchCount: 7})
	r.command(&protocol.BasicConsume{Queue: "q1"})
	if c := r.asked[0].(*mail.Consume); c.Prefetch != 7 || c.Limited {
		t.Errorf("%+v", c)
	}
}

// Messages allowed to a consumer and not delivered are free again when the consumer ends.
func TestGlobalQos_CancelledConsumerFreesItsShare(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"by the client": func(r *rig) { r.ask(&protocol.BasicCancel{ConsumerTag: "a"}) },
		"by the queue":  func(r *rig) { r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"}) },
		"with it":       func(r *rig) { r.turn(&mail.PeerGone{Who: pid("q1")}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.command(global(2))
			r.frames()
			r.consumes("a", "q1")
			r.consumes("b", "q2")
			r.offers("a", 2)
			r.sent("q1: allow 2")
			r.delivers("q1", "a", 1, "m1")
			end(r)
			r.posts = nil
			r.offers("b", 2)
			r.sent("q2: allow 1") // m1 is still unacked
			r.command(&protocol.BasicAck{DeliveryTag: 1})
			if unacked, allowed := r.queues.Unacked.Limit.Load(); allowed != 1 || unacked != 0 {
				t.Errorf("%+v", r.queues.Unacked.Limit)
			}
		})
	}
}

// Unused prefetch is allowed to queues in advance; it is reclaimed when another queue needs it.
func TestGlobalQos_InAdvance_TTL20(t *testing.T) {
	r := newRig(t)
	r.command(global(2))
	r.frames()
	for tag, queue := range map[string]string{"a": "q1", "b": "q2", "c": "q3"} {
		r.consumes(tag, queue)
	}
	r.offers("a", 0)
	r.offers("b", 0)
	r.offers("c", 0)
	r.offers("c", 0)
	r.sent("q1: allow 1", "q2: allow 1")
	r.delivers("q2", "b", 1, "m1")
	r.offers("c", 3)
	r.sent("q1: reclaim")
	r.offers("c", 4)
	r.sent() // the reclaim is under way
	r.turn(&mail.QosUnused{Queue: pid("q1"), Messages: 1})
	r.sent("q3: allow 1")
	r.offers("a", 0)
	r.delivers("q3", "c", 1, "m2")
	r.sent()
	r.command(&protocol.BasicAck{DeliveryTag: 2, Multiple: true})
	r.sent("q2: settle 1-1 ack", "q3: settle 1-1 ack", "q3: allow 1", "q1: allow 1")
	r.delivers("q3", "c", 2, "m3")
	r.command(global(1)) // and it is used up
	r.sent("q1: reclaim")
	r.command(global(1))
	r.sent()
	if r.queues.Unacked.Limit.Waiting() {
		t.Errorf("%+v", r.queues.Unacked.Limit)
	}
}

// Consumers of one queue share its allowance.
func TestGlobalQos_ConsumersOfOneQueue(t *testing.T) {
	r := newRig(t)
	r.command(global(3))
	r.frames()
	r.consumes("a", "q1")
	r.consumes("b", "q1")
	r.offers("a", 2)
	r.sent("q1: allow 2")
	r.delivers("q1", "b", 1, "m1")
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"})
	r.offers("b", 5)
	r.sent("q1: allow 1")
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "b"})
	if unacked, allowed := r.queues.Unacked.Limit.Load(); allowed != 0 || unacked != 1 {
		t.Errorf("%+v", r.queues.Unacked.Limit)
	}
}

// py-amqp clients (Celery) can change the prefetch of existing consumers.
func TestQos_Resizes(t *testing.T) {
	for product, want := range map[string][]string{"py-amqp": {"q1: resize 5"}, "": nil, "amqplib": nil} {
		r := newRig(t, func(c *Config) { c.ClientProduct = product })
		r.command(&protocol.BasicQos{PrefetchCount: 4})
		r.frames()
		r.consumes("a", "q1")
		r.command(&protocol.BasicQos{PrefetchCount: 5})
		r.sent(want...)
		r.command(global(6))
		r.sent("q1: limit true")
	}
}
