package integration

import (
	"bytes"
	number "encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Incomplete contents, whose total size exceeds the watermark many times.
const (
	begunWatermark = 100_000_000
	begunMargin    = 64_000_000 // by which memory may exceed the watermark (docs/alarms.md)
)

// startSmall starts a broker with that watermark. check fails the test if memory ever exceeded the watermark by more than the
// margin.
func startSmall(t *testing.T) (b *broker, check func()) {
	if racing {
		t.Skip("the race detector multiplies memory")
	}
	b = start(t, "--memory-high-watermark", strconv.Itoa(begunWatermark))
	most := b.watchMemory()
	return b, func() {
		t.Helper()
		if n := most(); n > begunWatermark+begunMargin {
			t.Errorf("memory came to %d bytes at a watermark of %d", n, begunWatermark)
		} else {
			t.Logf("memory came to %d bytes at a watermark of %d", n, begunWatermark)
		}
	}
}

func (b *broker) alarms() int {
	return strings.Count(b.log.String(), "memory resource limit alarm set")
}

// heard checks that the bystander is served, unless an alarm blocks it.
func (s *bystander) heard(b *broker) {
	if strings.Contains(b.request("GET", "/api/nodes", "", 200), `"mem_alarm":false`) {
		s.undisturbed(b)
	}
}

// piece sends a part of a body, in frames of maximum size.
func (i *rawClient) piece(channel uint16, bytes int) {
	i.say(protocol.AppendBodyFrames(nil, channel, make([]byte, bytes), frameMax))
}

// TestBegun_ByWhoMayNot: a user without any permission sends all but the last bytes of 4 MiB on each of 36 channels. The broker
// holds none of it, and other clients are unaffected. With its last byte each message is refused, as by RabbitMQ.
func TestBegun_ByWhoMayNot(t *testing.T) {
	t.Parallel()
	b, check := startSmall(t)
	s := b.bystander()
	b.request("PUT", "/api/users/nobody", `{"password":"nothing","tags":""}`, 201)
	b.request("PUT", "/api/permissions/%2F/nobody", `{"configure":"^$","write":"^$","read":"^$"}`, 201)
	i := b.connectRaw(t)
	i.say(protocol.ProtocolHeader[:])
	expect[*protocol.ConnectionStart](i)
	i.say(method(0, &protocol.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00nobody\x00nothing"), Locale: "en_US"}))
	expect[*protocol.ConnectionTune](i)
	i.say(method(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: frameMax}), method(0, &protocol.ConnectionOpen{VirtualHost: "/"}))
	expect[*protocol.ConnectionOpenOk](i)
	i.must(i.SetDeadline(time.Now().Add(2 * patience)))
	const channels, size = 36, 4 << 20
	for n := range uint16(channels) {
		i.open(n + 1)
		i.say(method(n+1, &protocol.BasicPublish{Exchange: "amq.fanout"}), protocol.AppendHeaderFrame(nil, n+1, size, []byte{0, 0}))
	}
	for range 4 {
		for n := range uint16(channels) {
			i.piece(n+1, 1<<20-1)
		}
		s.undisturbed(b)
	}
	for n := range uint16(channels) {
		i.piece(n+1, 4)
		if m := expect[*protocol.ChannelClose](i); m.ReplyCode != protocol.AccessRefused || m.Class != 60 || m.Method != 40 {
			t.Fatalf("%+v", m)
		}
	}
	s.undisturbed(b)
	if n := b.alarms(); n != 0 {
		t.Errorf("%d alarms", n)
	}
	check()
}

// large publishes durable messages of 6 MiB.
type large struct {
	*rawClient
	id int
}

const largeBody = 6 << 20

// publish sends one message, calls begun after its first part, and waits until it is confirmed.
func (p *large) publish(begun func()) {
	body := bytes.Repeat([]byte{byte(p.id)}, largeBody)
	number.BigEndian.PutUint32(body, uint32(p.id))
	properties := (&protocol.Properties{Flags: protocol.FlagDeliveryMode, DeliveryMode: 2}).Append(nil)
	p.say(method(1, &protocol.BasicPublish{RoutingKey: "large"}), protocol.AppendHeaderFrame(nil, 1, largeBody, properties))
	p.say(protocol.AppendBodyFrames(nil, 1, body[:64<<10], frameMax))
	begun()
	for part := range slices.Chunk(body[64<<10:], frameMax-8) {
		p.say(protocol.AppendBodyFrames(nil, 1, part, frameMax))
	}
	for {
		f, err := p.next()
		if err != nil {
			p.Errorf("publisher %d: %v", p.id, err)
			return
		}
		switch m, err := protocol.DecodeMethod(f.Payload); m := m.(type) {
		case *protocol.ConnectionBlocked, *protocol.ConnectionUnblocked:
		case *protocol.BasicAck:
			if m.DeliveryTag != 1 {
				p.Errorf("%+v", m)
			}
			return
		default:
			p.Errorf("publisher %d: %+v %v", p.id, m, err)
			return
		}
	}
}

// takeLarge consumes count of these messages.
func (c *client) takeLarge(count int) {
	c.must(c.Qos(1, 0, false))
	from := c.consume("large", false)
	seen := map[uint32]bool{}
	for len(seen) < count {
		d := c.next(from)
		id := number.BigEndian.Uint32(d.Body)
		if len(d.Body) != largeBody || seen[id] || d.Body[largeBody-1] != byte(id) {
			c.Fatalf("message %d of %d bytes, seen %v", id, len(d.Body), seen[id])
		}
		seen[id] = true
		c.must(d.Ack(false))
	}
}

// Forty publishers send a large message each concurrently; none is complete before all have begun. All are confirmed
// and arrive whole, during any alarms, and other clients are served at the same time.
func TestBegun_ByMany(t *testing.T) {
	t.Parallel()
	b, check := startSmall(t)
	s := b.bystander()
	const publishers = 40
	c := b.dial()
	c.must(func() error { _, err := c.QueueDeclare("large", true, false, false, false, nil); return err }())
	var all, ready sync.WaitGroup
	ready.Add(publishers)
	for n := range publishers {
		p := &large{rawClient: b.connectRaw(t), id: n}
		p.login(0)
		p.open(1)
		p.say(method(1, &protocol.ConfirmSelect{}))
		expect[*protocol.ConfirmSelectOk](p.rawClient)
		p.must(p.SetDeadline(time.Now().Add(3 * patience)))
		all.Go(func() {
			p.publish(func() {
				ready.Done()
				ready.Wait()
			})
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	for every := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-every.C:
			s.heard(b)
			continue
		case <-done:
		}
		every.Stop()
		break
	}
	c.takeLarge(publishers)
	s.undisturbed(b)
	t.Logf("%d alarms", b.alarms())
	check()
}

// If the contents of one connection exceed the memory shared by all incomplete contents, some of its messages are refused and the
// others arrive.
func TestBegun_OnOneConnection(t *testing.T) {
	t.Parallel()
	b, check := startSmall(t)
	i := b.connectRaw(t)
	i.login(0)
	i.must(i.SetDeadline(time.Now().Add(2 * patience)))
	const channels, size = 36, 8 << 20
	for n := range uint16(channels) {
		i.open(n + 1)
		i.say(method(n+1, &protocol.ConfirmSelect{NoWait: true}), method(n+1, &protocol.BasicPublish{Exchange: "amq.fanout"}),
			protocol.AppendHeaderFrame(nil, n+1, size, []byte{0, 0}))
	}
	for range 8 {
		for n := range uint16(channels) {
			i.piece(n+1, 1<<20)
		}
	}
	confirmed, refused := 0, 0
	for confirmed+refused < channels {
		f, err := i.next()
		i.must(err)
		switch m, _ := protocol.DecodeMethod(f.Payload); m := m.(type) {
		case *protocol.BasicAck:
			confirmed++
		case *protocol.ChannelClose:
			refused++
			if want := "PRECONDITION_FAILED - no memory for a message of 8388608 bytes while the other messages of this connection are incomplete"; m.ReplyText != want {
				t.Errorf("%+v", m)
			}
		default:
			t.Fatalf("%+v", m)
		}
	}
	if confirmed == 0 || refused == 0 {
		t.Errorf("%d confirmed, %d refused", confirmed, refused)
	}
	t.Logf("%d confirmed, %d refused", confirmed, refused)
	check()
}

// A transaction that exceeds the available memory is refused; smaller transactions are committed.
func TestBegun_Transaction(t *testing.T) {
	t.Parallel()
	b, check := startSmall(t)
	s := b.bystander()
	owner := b.dial()
	q := owner.queue("", nil)
	begin := func() *amqp.Channel {
		ch, err := b.dial().conn.Channel()
		if err == nil {
			err = ch.Tx()
		}
		owner.must(err)
		return ch
	}
	c := begin()
	closed := c.NotifyClose(make(chan *amqp.Error, 1))
	body := make([]byte, 1<<20)
	sent := 0
	for ; sent < 500; sent++ {
		if c.Publish("", q, false, false, amqp.Publishing{Body: body}) != nil {
			break
		}
	}
	if err := <-closed; err == nil || err.Code != 406 || !strings.HasPrefix(err.Reason, "PRECONDITION_FAILED - no memory for the transaction: ") {
		t.Errorf("after %d messages: %v", sent, err)
	}
	other := begin()
	for range 10 {
		owner.must(other.Publish("", q, false, false, amqp.Publishing{Body: body}))
	}
	owner.must(other.TxCommit())
	if n := owner.length(q); n != 10 {
		t.Errorf("%d messages", n)
	}
	s.undisturbed(b)
	if n := b.alarms(); n != 0 {
		t.Errorf("%d alarms", n)
	}
	check()
}

// The reset of a blocked connection is detected, even without heartbeats.
func TestBegun_ResetWhileBlocked(t *testing.T) {
	t.Parallel()
	b := start(t)
	i := b.connectRaw(t)
	i.login(0)
	i.mine("mine")
	b.verb(0, "set_vm_memory_high_watermark", "0")
	i.say(method(1, &protocol.BasicPublish{RoutingKey: "mine"}), protocol.AppendHeaderFrame(nil, 1, 0, []byte{0, 0}))
	expect[*protocol.ConnectionBlocked](i)
	i.say(method(1, &protocol.BasicPublish{RoutingKey: "mine"})) // not read by the broker while it is blocked
	i.must(i.SetLinger(0))
	i.must(i.Close())
	c := b.dial()
	eventually(t, "its exclusive queue is gone", func() bool {
		_, err := c.QueueDeclarePassive("mine", false, false, false, false, nil)
		var e *amqp.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		c.open()
		return e.Code == amqp.NotFound
	})
}
