package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestPRO21_Crowds: a client that wants as many objects as it can get, or as many unread deliveries, gets a limited number. The memory of
// the process is bounded, and others are served.
func TestPRO21_Crowds(t *testing.T) {
	for _, c := range []struct {
		name            string
		attack          func(b *broker, t *testing.T)
		watermark, most int64 // bytes
	}{
		// The objects of one connection may take 16 MiB: 120 and 175 MB would be needed for all.
		{"consumers", crowdOfConsumers, 200_000_000, 130_000_000},
		{"published", crowdOfTargets, 200_000_000, 200_000_000},
		// 480 MB would be needed for all; the objects of a user may take 75 MB.
		{"arguments", crowdOfArguments, 200_000_000, 230_000_000},
		// 700 MB would be needed for those whose frames a connection may have sent.
		{"voids", crowdOfVoids, 200_000_000, 230_000_000},
		{"unread", crowdOfReaders, watermark, watermark + floodMargin},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, watermarkAt(c.watermark)...)
			base, most := b.memory(), b.watchMemory()
			c.attack(b, t)
			other := b.dial()
			other.put("", other.queue("mine", nil), amqp.Publishing{Body: []byte("x")})
			other.holds("mine", "x")
			peak := most()
			t.Logf("memory grew from %d to %d MB", base/1e6, peak/1e6)
			if peak > c.most && !racing {
				t.Errorf("memory grew from %d to %d MB", base/1e6, peak/1e6)
			}
		})
	}
}

// crowdOfConsumers wants 200,000 consumers on 40 channels of a connection.
func crowdOfConsumers(b *broker, t *testing.T) {
	if racing {
		t.Skip("what objects may take follows the watermark")
	}
	i := b.connectRaw(t)
	i.login(0)
	i.mine("crowd")
	for channel := uint16(2); channel < 42; channel++ {
		i.open(channel)
		var batch []byte
		for n := range 5000 {
			batch = append(batch, method(channel, &protocol.BasicConsume{Queue: "crowd", ConsumerTag: fmt.Sprint(n), NoWait: true})...)
		}
		i.say(batch, method(channel, &protocol.BasicQos{}))
		if channel == 41 {
			closed := expect[*protocol.ChannelClose](i)
			if closed.ReplyCode != protocol.PreconditionFailed || !strings.Contains(closed.ReplyText, "the objects of a connection may take at most 16777216 bytes") {
				t.Errorf("%+v", closed)
			}
		} else if frame, err := i.next(); err != nil {
			t.Fatal(err)
		} else if m, err := protocol.DecodeMethod(frame.Payload); err != nil {
			t.Fatal(err)
		} else if _, refused := m.(*protocol.ChannelClose); refused {
			i.say(method(channel, &protocol.ChannelCloseOk{}))
		}
	}
}

// crowdOfTargets publishes one message on each of 500 channels to each of 500 queues, so that a channel would know all of them.
func crowdOfTargets(b *broker, t *testing.T) {
	c := b.dial()
	c.must(c.ExchangeDeclare("crowd", "fanout", false, false, false, false, nil))
	for n := range 500 {
		c.must(c.QueueBind(c.queue(fmt.Sprint("crowd-", n), amqp.Table{"x-max-length": 1}), "", "crowd", false, nil))
	}
	i := b.connectRaw(t)
	i.login(0)
	for channel := uint16(1); channel <= 500; channel++ {
		i.open(channel)
		i.say(method(channel, &protocol.ConfirmSelect{}))
		expect[*protocol.ConfirmSelectOk](i)
		publish := method(channel, &protocol.BasicPublish{Exchange: "crowd"})
		publish = protocol.AppendHeaderFrame(publish, channel, 1, (&protocol.Properties{}).Append(nil))
		i.say(protocol.AppendBodyFrames(publish, channel, []byte("x"), 0))
		expect[*protocol.BasicAck](i)
	}
}

// crowdOfReaders consumes 300 messages of 1 MiB, most of which are on disk, with 1,000 consumers, and does not read them.
func crowdOfReaders(b *broker, t *testing.T) {
	c := b.dial()
	body := make([]byte, 1<<20)
	var names []string
	for n := range 20 {
		names = append(names, c.queue(fmt.Sprint("crowd-", n), nil))
	}
	for n := range 300 {
		c.put("", names[n%len(names)], amqp.Publishing{Body: body})
	}
	i := b.connectRaw(t)
	i.login(0)
	i.open(1)
	for n := range 1000 {
		i.say(method(1, &protocol.BasicConsume{Queue: names[n%len(names)], ConsumerTag: fmt.Sprint(n), NoWait: true}))
	}
	eventually(t, "consumers", func() bool {
		return strings.Contains(b.request("GET", "/api/queues/%2F/crowd-19", "", 200), `"consumers":50,`)
	})
	frame, err := i.next() // deliveries have begun
	i.must(err)
	if m, err := protocol.DecodeMethod(frame.Payload); err != nil || m.Key() != (&protocol.BasicDeliver{}).Key() {
		t.Fatalf("%+v %v", m, err)
	}
}

// crowdOfArguments declares 4,000 durable queues with arguments of 120 KB at once, on 1,000 channels of each of four connections.
func crowdOfArguments(b *broker, t *testing.T) {
	if racing {
		t.Skip("what objects may take follows the watermark")
	}
	const channels = 1000
	var crowd [4]*rawClient
	for n := range crowd {
		i := b.connectRaw(t)
		i.login(0)
		for channel := range uint16(channels) {
			i.open(channel + 1)
		}
		crowd[n] = i
	}
	large := protocol.Table{{Key: "k", Value: strings.Repeat("x", 120_000)}}
	var all sync.WaitGroup
	for n, i := range crowd {
		all.Go(func() {
			for channel := range uint16(channels) {
				i.say(method(channel+1, &protocol.QueueDeclare{Queue: fmt.Sprint("crowd-", n, "-", channel), Durable: true, Arguments: large}))
			}
		})
		all.Go(func() {
			for range channels {
				if _, err := i.next(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// crowdOfVoids declares the same queue at once on 60 channels of each of 10 connections, with arguments that take 2.4 MB when they are decoded.
func crowdOfVoids(b *broker, t *testing.T) {
	void := protocol.Table{{Key: "k", Value: make(protocol.Array, 100_000)}}
	declare := &protocol.QueueDeclare{Queue: "crowd", Arguments: void}
	var all sync.WaitGroup
	for range 10 {
		i := b.connectRaw(t)
		i.login(0)
		for channel := range uint16(60) {
			i.open(channel + 1)
		}
		all.Go(func() {
			for channel := range uint16(60) {
				i.say(method(channel+1, declare))
			}
		})
		all.Go(func() {
			for range 60 {
				if _, err := i.next(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
