package broker

import (
	"fmt"
	"net"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/protocol"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	amqp "github.com/rabbitmq/amqp091-go"
)

// unreadRun runs test on a broker with a watermark of 32 MB: output that clients do not read may take 4 MB, of one user 2 MB, and the
// deliveries of one connection 1 MB. There is no send timeout.
func unreadRun(t *testing.T, test func(b *testkit.Bubble)) {
	testkit.Run(t, func(c *supervision.Config) {
		c.SendTimeout = -1
		c.Alarms = resources.Config{Meter: &meter{memory: 1, disk: 1000}, Watermark: config.Amount{Bytes: 32 * mb}, DiskFree: config.Amount{Bytes: 50 * mb}}
	}, func(b *testkit.Bubble) {
		if _, err := b.Users.PutAccount(auth.Account{Name: "other", Hash: auth.HashPassword("other")}); err != nil {
			b.Fatal(err)
		}
		if _, err := b.Users.PutGrant(auth.Grant{User: "other", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			b.Fatal(err)
		}
		b.Advance(2 * time.Second)
		test(b)
	})
}

// stalled is a client that stops reading.
type stalled struct {
	*wire
	socket *stallableSocket
}

func stall(b *testkit.Bubble, user string) *stalled {
	ours, theirs := net.Pipe()
	b.Node.Connect(ours)
	socket := &stallableSocket{Conn: theirs, end: make(chan struct{})}
	s := &stalled{&wire{Bubble: b, conn: socket}, socket}
	go s.listen()
	s.write(protocol.ProtocolHeader[:])
	s.take()
	s.say(startOk(user, user), &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, &protocol.ConnectionOpen{VirtualHost: "/"})
	s.say(&protocol.ChannelOpen{})
	if heard := s.take(); heard != "connection.tune, connection.open-ok, channel.open-ok" {
		b.Fatal(heard)
	}
	return s
}

// stop stops reading: the read that is in progress gets the beginning of the next output.
func (s *stalled) stop() { s.socket.stalled.Store(true) }

// consume stops reading, and consumes from the queues with that many consumers in all.
func (s *stalled) consume(consumers int, queues ...string) {
	s.stop()
	for n := range consumers {
		s.say(&protocol.BasicConsume{Queue: queues[n%len(queues)], ConsumerTag: fmt.Sprint("tag ", n), NoWait: true})
	}
	s.Advance(0)
}

// over reports whether the broker has closed the connection.
func (s *stalled) over() bool {
	_, err := s.socket.Conn.Write(protocol.AppendHeartbeat(nil))
	return err != nil
}

func (s *stalled) leave() {
	close(s.socket.end)
	_ = s.socket.Close()
	s.Advance(time.Second)
}

// backlogs declares queues with messages of a size, and returns their names.
func backlogs(b *testkit.Bubble, queues, messages, size int) (names []string) {
	ch := b.Connect().Open()
	for n := range queues {
		name := fmt.Sprint("filled ", n)
		ch.Declare(name, nil)
		for range messages {
			ch.Send("", name, amqp.Publishing{Body: make([]byte, size)})
		}
		names = append(names, name)
	}
	b.Advance(time.Second)
	return names
}

// unacked returns how many of the messages that backlogs has published are not ready.
func unacked(b *testkit.Bubble, queues []string, messages int) (n int) {
	ch := b.Connect().Open()
	for _, name := range queues {
		n += messages - ch.Declare(name, nil).Messages
	}
	return n
}

// A client that does not read may have any number of consumers on any number of channels: its connection holds a
// bounded number of bytes; the other messages stay in their queues, and other clients get them.
func TestPRO20_ManyConsumers(t *testing.T) {
	for _, size := range []int{500, 20_000, 300_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			unreadRun(t, func(b *testkit.Bubble) {
				b.Log.Allow("client unexpectedly closed")
				messages := 10 + 2*mb/size
				queues := backlogs(b, 4, messages, size)
				s := stall(b, "guest")
				s.consume(400, queues...)
				b.Advance(time.Minute)
				const outboxes = 2 * 512 << 10
				if n := unacked(b, queues, messages); n*size > 1*mb+outboxes+4*size || n == 0 {
					t.Errorf("%d messages of %d bytes", n, size)
				}
				taken := b.Connect().Open().Tail(queues[0])
				testkit.Receive(b, taken)
				s.leave()
				if n := unacked(b, queues[1:], messages); n != 0 {
					t.Errorf("%d messages are not requeued", n)
				}
			})
		})
	}
}

// While other clients of its user, or of all users, need the room, a client that does not read is cut off; a client of another user
// gets its messages at once, and a client of the same user after a few seconds. The log has one line a minute.
func TestPRO20_CutOff(t *testing.T) {
	unreadRun(t, func(b *testkit.Bubble) {
		b.Log.Allow("clients do not read")
		queues := backlogs(b, 4, 20, 100_000)
		var all []*stalled
		for range 5 {
			s := stall(b, "guest")
			s.consume(8, queues...)
			all = append(all, s)
		}
		began := b.Elapsed()
		ch := b.ConnectAs("other", "other").Open()
		ch.Declare("q", nil)
		ch.Send("", "q", amqp.Publishing{Body: make([]byte, 200_000)})
		if testkit.Receive(b, ch.Tail("q")); b.Elapsed()-began > time.Second {
			t.Errorf("another user waits for %v", b.Elapsed()-began)
		}
		ch = b.Connect().Open()
		ch.Declare("q2", nil)
		ch.Send("", "q2", amqp.Publishing{Body: make([]byte, 200_000)})
		began = b.Elapsed()
		if testkit.Receive(b, ch.Tail("q2")); b.Elapsed()-began > 12*time.Second || b.Elapsed()-began < 4*time.Second {
			t.Errorf("the same user waits for %v", b.Elapsed()-began)
		}
		b.Advance(time.Minute)
		ended := 0
		for _, s := range all {
			if s.over() {
				ended++
			}
			s.leave()
		}
		if ended == 0 {
			t.Error("none was cut off")
		}
		if n := b.Log.Count("clients do not read"); n == 0 || n > 2 {
			t.Errorf("%d lines in %v", n, b.Elapsed())
		}
	})
}

// basic.get, too, waits for room, and continues when the client reads.
func TestPRO20_Gets(t *testing.T) {
	unreadRun(t, func(b *testkit.Bubble) {
		b.Log.Allow("client unexpectedly closed")
		const size, messages = 300_000, 30
		queues := backlogs(b, 1, messages, size)
		s := stall(b, "guest")
		for n := range uint16(20) {
			s.say(on{n + 2, &protocol.ChannelOpen{}})
		}
		s.stop()
		for n := range uint16(20) {
			s.say(on{n + 2, &protocol.BasicGet{Queue: queues[0]}})
		}
		b.Advance(time.Minute)
		if n := unacked(b, queues, messages); n*size > 1*mb+2*512<<10+6*size || n == 0 {
			t.Errorf("%d messages were taken", n)
		}
		s.leave()
		if n := unacked(b, queues, messages); n != 0 {
			t.Errorf("%d messages are not requeued", n)
		}
	})
}
