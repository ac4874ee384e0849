package main

import (
	"fmt"
	"math/rand/v2"

	"candlemark/protocol"
)

// randomScripts makes stories that nobody thought of: two queues with arguments, an exchange, consumers, and whatever may be done with
// them. What is random is fixed by the seed. Nothing in them has a deadline, and every step waits for silence, so that only what the
// brokers decide can differ.
func randomScripts(n int, seed uint64) []script {
	all := make([]script, n)
	for i := range all {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		all[i] = s(fmt.Sprintf("random/%d/%d", seed, i), g.story()...)
	}
	return all
}

// generator makes one story.
type generator struct {
	*rand.Rand
	published int
	consumers int
}

// pick returns one of several.
func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// some returns each option with a chance of one in n.
func (g *generator) some(n int, options ...option) (chosen []option) {
	for _, o := range options {
		if g.IntN(n) == 0 {
			chosen = append(chosen, o)
		}
	}
	return chosen
}

func (g *generator) story() []step {
	steps := []step{
		exchange("~x", pick(g, "direct", "fanout", "topic", "headers")),
		g.queue("~a"), g.queue("~b"),
		bind("~a", "~x", pick(g, "k", "k.*", "#"), g.some(2, arg("h", 1), arg("x-match", "any"))...),
		bind("~b", "~x", pick(g, "k", "k.l", "*.l")),
	}
	if g.IntN(2) == 0 {
		steps = append(steps, confirms())
	}
	for range 15 + g.IntN(15) {
		steps = append(steps, g.step(), settle())
	}
	for _, q := range []string{"~a", "~b"} {
		steps = append(steps, declare(q, passive))
	}
	return steps
}

// queue declares a queue; dead letters go to the other one or through the exchange.
func (g *generator) queue(name string) step {
	options := g.some(4, arg("x-max-length", 1+g.IntN(4)), arg("x-max-priority", 3), arg("x-single-active-consumer", true))
	if g.IntN(6) == 0 {
		options = append(options, arg("x-max-length-bytes", 5+g.IntN(20)))
	}
	if g.IntN(3) == 0 {
		options = append(options, arg("x-overflow", pick(g, "reject-publish", "reject-publish-dlx", "drop-head")))
	}
	if g.IntN(2) == 0 {
		options = append(options, arg("x-dead-letter-exchange", pick(g, "", "~x")))
		options = append(options, g.some(2, arg("x-dead-letter-routing-key", pick(g, "~a", "~b", "k.l")))...)
	}
	return declare(name, append(options, g.some(4, durable)...)...)
}

func (g *generator) name() string { return pick(g, "~a", "~b") }

// channel is one of the two that have consumers: the second for queue ~a, the third for ~b, because the order in which two queues
// deliver to one channel means nothing.
func (g *generator) channel() uint16 { return uint16(2 + g.IntN(2)) }

// consume starts a consumer. A common limit and no acks do not go together: see qos/global-does-not-stop-no-ack.
func (g *generator) consume() step {
	g.consumers++
	ch, tag := g.channel(), fmt.Sprintf("c%d", g.consumers)
	options := g.some(3, arg("x-priority", g.IntN(3)))
	limit := qos(uint16(g.IntN(3)))
	if g.IntN(4) == 0 {
		limit = qos(uint16(g.IntN(3)), global)
	} else {
		options = append(options, g.some(3, noAck)...)
	}
	return on(1, ch, limit, consume([]string{"~a", "~b"}[ch-2], tag, options...))
}

// step is one thing that a client might do next. The first channel gets and publishes.
func (g *generator) step() step {
	switch g.IntN(16) {
	case 0, 1, 2, 3, 4:
		return g.publish()
	case 5, 6:
		return get(g.name(), g.some(2, noAck)...)
	case 7:
		return ack(uint64(g.IntN(4)), append(g.some(2, multiple), multiple)...)
	case 8:
		return nack(uint64(g.IntN(3)), append(g.some(2, requeue), multiple)...)
	case 9:
		return reject(uint64(1+g.IntN(3)), g.some(2, requeue)...)
	case 10:
		return g.consume()
	case 11:
		return on(1, g.channel(), cancel(fmt.Sprintf("c%d", 1+g.IntN(3))))
	case 12:
		return on(1, g.channel(), ack(0, multiple))
	case 13:
		return on(1, g.channel(), nack(0, append(g.some(2, requeue), multiple)...))
	case 14:
		return on(1, uint16(1+g.IntN(3)), pick(g, recoverAll(), closeChannel()))
	}
	return pick(g, purge(g.name()), deleteQueue(g.name(), g.some(2, ifUnused, ifEmpty)...), g.queue(g.name()), declare(g.name(), passive),
		unbind("~a", "~x", "k"))
}

func (g *generator) publish() step {
	g.published++
	options := g.some(3, priority(uint8(g.IntN(5))), header("h", g.IntN(2)), persistent(), mandatory)
	if g.IntN(8) == 0 {
		options = append(options, header(pick(g, "CC", "BCC"), protocol.Array{g.name()}))
	}
	body := fmt.Sprintf("m%d", g.published)
	if g.IntN(2) == 0 {
		return publish("", g.name(), body, options...)
	}
	return publish("~x", pick(g, "k", "k.l", "l"), body, options...)
}
