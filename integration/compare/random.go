package main

import (
	"fmt"
	"math/rand/v2"

	"candlemark/protocol"
)

// randomScripts generates scripts: two queues with arguments, an exchange, consumers, and random operations on them.
// The seed determines all random choices. Nothing in them has a deadline, and every step waits for silence, so that
// only decisions of the brokers can differ.
func randomScripts(n int, seed uint64) []script {
	all := make([]script, n)
	for i := range all {
		g := &generator{tags: map[uint16]string{}, Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		all[i] = s(fmt.Sprintf("random/%d/%d", seed, i), g.story()...)
	}
	return all
}

// generator makes one story.
type generator struct {
	*rand.Rand
	published int
	common    bool // consumers have a common limit
	tags      map[uint16]string
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
	g.common = g.IntN(4) == 0
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
	options := g.some(4, arg("x-max-length", 1+g.IntN(4)), arg("x-max-priority", 3))
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

// channel returns a channel with a consumer: 2 and 4 of queue ~a, 3 and 5 of ~b. There is one on each, because the
// order of deliveries to several consumers of one channel is undefined. Channels with a common limit do not share a
// queue: the order in which it serves them depends on timing.
func (g *generator) channel() uint16 {
	if g.common {
		return uint16(2 + g.IntN(2))
	}
	return uint16(2 + g.IntN(4))
}

// consume replaces a channel's consumer. A common limit and no acks do not go together: see qos/global-does-not-stop-no-ack.
func (g *generator) consume() step {
	ch := g.channel()
	last := g.tags[ch]
	g.published++
	g.tags[ch] = fmt.Sprintf("c%d", g.published)
	options := g.some(3, arg("x-priority", g.IntN(3)))
	limit := qos(uint16(g.IntN(3)))
	if g.common {
		limit = qos(uint16(1+g.IntN(3)), global)
	} else {
		options = append(options, g.some(3, noAck)...)
	}
	return on(1, ch, cancel(last), limit, consume([]string{"~a", "~b"}[ch%2], g.tags[ch], options...))
}

// giveBack rejects a consumer's deliveries, with or without requeueing. In RabbitMQ the next message is undefined when
// some come back under a common limit.
func (g *generator) giveBack() step {
	options := []option{multiple}
	if !g.common {
		options = append(options, g.some(2, requeue)...)
	}
	return on(1, g.channel(), nack(0, options...))
}

// step returns one thing that a client might do next. The first channel gets and publishes.
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
		ch := g.channel()
		return on(1, ch, cancel(g.tags[ch]))
	case 12:
		return on(1, g.channel(), ack(0, multiple))
	case 13:
		return g.giveBack()
	case 14:
		return pick(g, recoverAll(), closeChannel(), on(1, g.channel(), closeChannel()))
	}
	return pick(g, purge(g.name()), deleteQueue(g.name(), g.some(2, ifUnused, ifEmpty)...), g.queue(g.name()), declare(g.name(), passive),
		unbind("~a", "~x", "k"))
}

func (g *generator) publish() step {
	g.published++
	options := g.some(3, priority(uint8(g.IntN(5))), header("h", g.IntN(2)), persistent(), mandatory)
	if g.IntN(8) == 0 {
		options = append(options, header("BCC", protocol.Array{g.name()}))
	}
	body := fmt.Sprintf("m%d", g.published)
	if g.IntN(2) == 0 {
		return publish("", g.name(), body, options...)
	}
	return publish("~x", pick(g, "k", "k.l", "l"), body, options...)
}
