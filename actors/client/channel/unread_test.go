package channel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/channel/confirms"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// gives answers the oldest basic.get with a message of that number.
func (r *rig) gives(number uint64, body string) {
	r.t.Helper()
	m := r.asked[0].(*mail.Get)
	r.asked = r.asked[1:]
	r.turn(&mail.GetReply{Reply: m.Done(nil), Queue: pid(m.Queue), Delivery: mail.Delivery{
		Number: number, Message: message.Message{Header: []byte{0, 0}, Body: []byte(body), Owned: true},
	}})
}

// roomOf is the limit of the outbox in these tests, in bytes.
const roomOf = 1000

func narrow(c *Config) { c.Outbox = outbox.New(roomOf, nil) }

// readAll plays a client that begins to read: it takes the outbox piece by piece, none larger than most bytes. served plays the
// queues between two pieces.
func (r *rig) readAll(most int, served func()) (shown []string) {
	r.t.Helper()
	for {
		served()
		b := r.cfg.Outbox.Take()
		if b == nil {
			return shown
		}
		if len(b) > most {
			r.t.Fatalf("%d bytes are held for a client that does not read", len(b))
		}
		for len(b) > 0 {
			f, n, _, err := protocol.ParseFrame(b, r.cfg.FrameMax)
			if n == 0 || err != nil {
				r.t.Fatal(n, err)
			}
			shown = append(shown, show(r.t, f))
			b = b[n:]
		}
		for _, m := range r.later {
			r.later = nil
			r.turn(m)
		}
	}
}

// For a client that does not read, no more than the outbox and one answer is held, for any number of requests; all
// answers follow in order when it reads.
func TestUnread_Answers(t *testing.T) {
	const count = 500
	body := strings.Repeat("x", 2000)
	for name, c := range map[string]struct {
		frames  []byte
		answer  string
		most    int // bytes of one answer
		publish bool
	}{
		"passive declare": {frames: frame(&protocol.QueueDeclare{Queue: topology.ReplyName, Passive: true}), answer: "queue.declare-ok", most: 100},
		"qos":             {frames: frame(&protocol.BasicQos{}), answer: "basic.qos-ok", most: 20},
		"recover":         {frames: frame(&protocol.BasicRecover{Requeue: true}), answer: "basic.recover-ok", most: 20},
		"return":          {frames: content(&protocol.BasicPublish{Exchange: "void", Mandatory: true}, body), answer: "basic.return", most: 2200},
		"get":             {frames: frame(&protocol.BasicGet{Queue: "q1"}), answer: "basic.get-ok", most: 2200},
		"empty get":       {frames: frame(&protocol.BasicGet{Queue: "q2"}), answer: "basic.get-empty", most: 20},
		"declare":         {frames: frame(&protocol.QueueDeclare{Queue: "q1"}), answer: "queue.declare-ok", most: 100},
		"bind":            {frames: frame(&protocol.QueueBind{Queue: "q1", Exchange: "x"}), answer: "queue.bind-ok", most: 20},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, narrow)
			number, busiest := uint64(0), 0
			served := func() {
				for len(r.asked) > 0 {
					busiest = max(busiest, len(r.asked))
					if m, ok := r.asked[0].(*mail.Get); ok && m.Queue == "q1" {
						number++
						r.gives(number, body)
					} else {
						r.succeed()
					}
				}
				r.posts = nil
			}
			r.feed(bytes.Repeat(c.frames, count))
			got := r.readAll(roomOf+c.most, served)
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "header") || strings.HasPrefix(s, "body") })
			if len(got) != count || busiest > 1 {
				t.Errorf("%d answers, %d questions at a time", len(got), busiest)
			}
			for i, s := range got {
				if !strings.HasPrefix(s, c.answer) || c.answer == "basic.get-ok" && !strings.Contains(s, fmt.Sprintf("DeliveryTag:%d ", i+1)) &&
					!strings.HasSuffix(s, fmt.Sprintf("DeliveryTag:%d}", i+1)) {
					t.Fatalf("%d: %s", i, s)
				}
			}
			if r.in.Parked() != 0 || r.waits() {
				t.Errorf("%d parked", r.in.Parked())
			}
			r.balanced()
		})
	}
}

// Input behind a waiting return is not processed, and the returned content is charged to the connection.
func TestUnread_ReturnIsCharged(t *testing.T) {
	r := newRig(t, narrow)
	r.command(&protocol.ConfirmSelect{})
	lost := content(&protocol.BasicPublish{Exchange: "void", Mandatory: true}, strings.Repeat("x", 3000))
	r.feed(lost)
	r.feed(lost)
	if used := r.cfg.Gate.Used(); used < 3000 {
		t.Errorf("%d bytes are charged", used)
	}
	r.feed(publish("", "q1", "later"))
	r.sent()
	got := r.readAll(roomOf+4000, func() {})
	if want := concat("confirm.select-ok", returned(3000), "basic.ack {DeliveryTag:1}", returned(3000), "basic.ack {DeliveryTag:2}"); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	r.sent("q1: enqueue later#3")
	r.balanced()
}

func returned(size int) []string {
	return []string{
		"basic.return {ReplyCode:312 ReplyText:NO_ROUTE Exchange:void}", fmt.Sprintf("header %d", size), fmt.Sprintf("body of %d", size),
	}
}

// A publisher that does not read its confirms can continue as long as they are acks, which need no memory until they are sent as
// one.
func TestUnread_Acks(t *testing.T) {
	const count = 200_000
	r := newRig(t, narrow)
	r.command(&protocol.ConfirmSelect{})
	some := bytes.Repeat(publish("void", "", "x"), 100)
	for range count / 100 {
		r.feed(some)
	}
	if r.waits() || r.confirms.Cap() > confirms.BaseCapacity {
		t.Errorf("waits %v, memory for %d", r.waits(), r.confirms.Cap())
	}
	got := r.readAll(roomOf+50, func() {})
	if last := got[len(got)-1]; len(got) > 100 || last != fmt.Sprintf("basic.ack {DeliveryTag:%d Multiple:true}", count) {
		t.Errorf("%d frames, %s", len(got), last)
	}
}

// Nacks are sent one by one: the publisher waits when too many are pending.
func TestUnread_Nacks(t *testing.T) {
	const count = 20_000
	r := newRig(t, narrow)
	r.command(&protocol.ConfirmSelect{})
	refuse := func() {
		for _, p := range r.posts {
			if m, ok := p.Mail.(*mail.Enqueue); ok {
				if _, reply := m.Answer(mail.Failed); reply != nil {
					r.turn(reply)
				}
				m.Release()
			}
		}
		r.posts = nil
	}
	for range count / 1000 { // in turns of 1000
		r.feed(bytes.Repeat(publish("", "q1", "x"), 1000))
	}
	refuse()
	for range 3 * confirms.BaseCapacity {
		r.feed(publish("", "q1", "x"))
		refuse()
		if r.waits() {
			break
		}
	}
	if !r.waits() || r.confirms.Cap() > 4*count {
		t.Errorf("waits %v, memory for %d", r.waits(), r.confirms.Cap())
	}
	before := r.confirms.Last()
	got := r.readAll(21*int(before)+roomOf, refuse)
	if nacks := len(got) - 1; nacks != int(r.confirms.Last()) || r.waits() {
		t.Errorf("%d nacks of %d, waits %v", nacks, r.confirms.Last(), r.waits())
	}
}

// Of many channels with a basic.get, few take a message before the client reads; a channel that ends passes its turn on.
func TestUnread_GetsOfManyChannels(t *testing.T) {
	box := outbox.New(roomOf, nil)
	var rigs []*rig
	for range 20 {
		r := newRig(t, func(c *Config) { c.Outbox = box })
		r.command(&protocol.BasicGet{Queue: "q1"})
		rigs = append(rigs, r)
	}
	taken, over := 0, map[*rig]bool{}
	count := func() (under int) {
		for i, r := range rigs {
			for _, m := range r.later {
				r.later = nil
				r.turn(m)
			}
			if len(r.asked) == 0 || over[r] {
				continue
			}
			if i%3 == 0 { // every third one ends
				r.turn(&mail.CloseChannel{})
				r.fail(internalError("enough"), nil)
				over[r] = true
				continue
			}
			under++
		}
		return under
	}
	for range 20 {
		if under := count(); under > 4 {
			t.Fatalf("%d gets at a time", under)
		}
		for _, r := range rigs {
			if len(r.asked) > 0 && !over[r] {
				r.gives(1, strings.Repeat("x", 3000))
				taken++
			}
		}
		for b := box.Take(); b != nil; b = box.Take() {
			if len(b) > roomOf+3200 {
				t.Fatalf("%d bytes are held", len(b))
			}
		}
	}
	if taken+len(over) != 20 {
		t.Errorf("%d got something, %d ended", taken, len(over))
	}
}

// The end of a channel does not wait for a client to read.
func TestUnread_EndsAllTheSame(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"connection": func(r *rig) { r.turn(&mail.CloseChannel{}) },
		"panic": func(r *rig) {
			r.abort()
			r.posts = append(r.posts, mail.Post{To: pid("connection"), Mail: &mail.ChannelClosed{ID: 1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, narrow, func(c *Config) { c.Log = zerolog.Nop() })
			r.feed(bytes.Repeat(frame(&protocol.BasicQos{}), 500), content(&protocol.BasicPublish{Exchange: "void", Mandatory: true}, "x"), frame(&protocol.BasicGet{Queue: "q1"}))
			r.feed(publish("", "q1", "read before"))
			r.posts = nil
			end(r)
			if name == "connection" {
				r.sent("q1: enqueue read before", "connection: closed 1 false")
			}
			if b := r.cfg.Outbox.Take(); len(b) > roomOf+100 {
				t.Errorf("%d bytes are held", len(b))
			}
			r.balanced()
		})
	}
}

// The client's channel.close is carried out at once, after the pending confirms are written.
func TestUnread_ChannelClose(t *testing.T) {
	r := newRig(t, narrow)
	r.command(&protocol.ConfirmSelect{})
	r.feed(bytes.Repeat(content(&protocol.BasicPublish{Exchange: "void"}, "x"), 5000))
	for !r.output.Full() {
		r.feed(publish("void", "", "x"))
	}
	last := r.confirms.Last()
	r.command(&protocol.ChannelClose{})
	r.sent("connection: closed 1 true")
	if got := r.frames(); got[len(got)-1] != fmt.Sprintf("basic.ack {DeliveryTag:%d Multiple:true}", last) && got[len(got)-1] != fmt.Sprintf("basic.ack {DeliveryTag:%d}", last) {
		t.Error(got[len(got)-1])
	}
}

// An exception is sent when there is room; input in the meantime waits or is ignored.
func TestUnread_Exception(t *testing.T) {
	r := newRig(t, narrow)
	for range 100 {
		r.command(&protocol.BasicQos{})
	}
	r.feed(frame(&protocol.BasicCancel{ConsumerTag: "none"}), frame(&protocol.BasicAck{DeliveryTag: 7}), bytes.Repeat(frame(&protocol.ChannelClose{}), 500))
	got := r.readAll(roomOf+200, func() {})
	at := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "channel.close {ReplyCode:406") })
	if at != 101 || len(got) != 602 || got[601] != "channel.close-ok" {
		t.Errorf("%d of %d: %s", at, len(got), got[len(got)-1])
	}
}
