package integration

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// unreadMargin is the memory in bytes that the broker may use in addition to its memory at rest, for any amount that
// one client leaves unread. The attacks request more than ten times as much.
const unreadMargin = 150_000_000

// attackUnread are clients that send requests and do not read, each on a connection of its own: what each sends repeatedly, and
// how often.
var attackUnread = map[string]struct {
	prepare []byte
	say     func(n int) []byte
	times   int
	stays   bool // it is not disconnected, because little is sent to it
}{
	"get and nack": {times: 2000, say: func(n int) []byte {
		return append(method(1, &protocol.BasicGet{Queue: "big"}), method(1, &protocol.BasicNack{DeliveryTag: uint64(n), Requeue: true})...)
	}},
	"mandatory": {times: 2000, say: func(int) []byte {
		b := method(1, &protocol.BasicPublish{RoutingKey: "nowhere", Mandatory: true})
		b = protocol.AppendHeaderFrame(b, 1, 1<<20, []byte{0, 0})
		return protocol.AppendBodyFrames(b, 1, make([]byte, 1<<20), frameMax)
	}},
	"passive declare": {times: 20_000, say: func(int) []byte {
		return bytes.Repeat(method(1, &protocol.QueueDeclare{Queue: "big", Passive: true}), 100)
	}},
	"confirms": {times: 20_000, stays: true, prepare: method(1, &protocol.ConfirmSelect{}), say: func(int) []byte {
		b := method(1, &protocol.BasicPublish{RoutingKey: "nowhere"})
		return bytes.Repeat(protocol.AppendHeaderFrame(b, 1, 0, []byte{0, 0}), 100)
	}},
	"consume and reject": {times: 20_000, stays: true, prepare: method(1, &protocol.BasicConsume{Queue: "big", ConsumerTag: "t"}), say: func(n int) []byte {
		return method(1, &protocol.BasicReject{DeliveryTag: uint64(n), Requeue: true})
	}},
	"open and close": {times: 20_000, say: func(int) []byte {
		return bytes.Repeat(append(method(2, &protocol.ChannelOpen{}), method(2, &protocol.ChannelClose{})...), 100)
	}},
}

// If a client requests without reading, the broker's memory is bounded for all kinds of requests, the client is finally
// disconnected, and other clients are unaffected.
func TestUnread(t *testing.T) {
	t.Parallel()
	b := start(t, "--send-timeout", "3s")
	s := b.bystander()
	s.queueWith("big", 1<<20)
	before := peakMemory(t, b.cmd.Process.Pid)
	for name, attack := range attackUnread {
		t.Run(name, func(t *testing.T) {
			i := b.connectRaw(t)
			i.login(0)
			i.open(1)
			i.must(i.SetDeadline(time.Now().Add(3 * patience))) // a slow broker takes long to answer the requests buffered by the OS
			i.say(attack.prepare)
			cutOff := func() int { return strings.Count(b.log.String(), "the client has read nothing for 3s") }
			earlier := cutOff()
			n := 1
			for ; n <= attack.times; n++ {
				if _, err := i.Write(attack.say(n)); err != nil {
					break // disconnected, or the broker has stopped reading for now
				}
			}
			s.undisturbed(b)
			t.Logf("%d of %d", n-1, attack.times)
			if !attack.stays {
				eventually(t, "it is cut off", func() bool { return cutOff() > earlier })
			}
			i.must(i.Close())
		})
		if most := peakMemory(t, b.cmd.Process.Pid); most > before+unreadMargin && !racing { // the race detector multiplies memory
			t.Fatalf("%s: %d bytes of memory at most, %d before", name, most, before)
		} else {
			t.Logf("%s: %d bytes of memory at most, %d before", name, most, before)
		}
	}
	s.undisturbed(b)
}

// peakMemory returns the peak memory of a process in bytes, 0 if the OS does not report it.
func peakMemory(t *testing.T, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if err != nil || found == nil {
		t.Logf("this system does not report memory use: %v", err)
		return 0
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return 1024 * kilobytes
}

// queueWith declares a queue with one message of the given size.
func (s *bystander) queueWith(name string, size int) {
	s.Helper()
	s.client.queue(name, nil)
	s.put("", name, amqp.Publishing{Body: make([]byte, size)})
}

// A client that stops reading is disconnected after the configured time, over TCP and TLS, and its unacked messages are requeued.
func TestUnreadIsCutOff(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	b, secure := secured(t, a, t.TempDir(), "--send-timeout", "5s")
	c := b.dial()
	for name, dial := range map[string]func() (net.Conn, error){
		"TCP": func() (net.Conn, error) { return net.Dial("tcp", b.amqp) },
		"TLS": func() (net.Conn, error) { return tls.Dial("tcp", secure, &tls.Config{RootCAs: a.Roots()}) },
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{T: t, Channel: c.Channel, conn: c.conn}
			q := c.queue("", nil)
			for range 20 {
				c.put("", q, amqp.Publishing{Body: make([]byte, 1<<20)})
			}
			conn, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begin := time.Now()
			b := append([]byte{}, protocol.ProtocolHeader[:]...)
			b = append(b, method(0, &protocol.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "en_US"})...)
			b = append(b, method(0, &protocol.ConnectionTuneOk{ChannelMax: 1, FrameMax: frameMax})...)
			b = append(b, method(0, &protocol.ConnectionOpen{VirtualHost: "/"})...)
			b = append(b, method(1, &protocol.ChannelOpen{})...)
			if _, err := conn.Write(append(b, method(1, &protocol.BasicConsume{Queue: q})...)); err != nil {
				t.Fatal(err)
			}
			unacked := func() int {
				s, err := c.QueueDeclarePassive(q, false, false, false, false, nil)
				c.must(err)
				return 20 - s.Messages
			}
			eventually(t, "it gets something", func() bool { return unacked() > 0 })
			eventually(t, "it is cut off", func() bool { return unacked() == 0 })
			if past := time.Since(begin); past < 5*time.Second {
				t.Errorf("cut off after %v", past)
			}
		})
	}
}

// A client that sends all requests before it reads gets all answers.
func TestUnreadIsReadLater(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	s.queueWith("big", 1<<20)
	const times = 200
	i := b.connectRaw(t)
	i.login(0)
	i.open(1)
	for n := range times { // more than all buffers between client and broker can hold
		i.say(attackUnread["get and nack"].say(n + 1))
	}
	i.say(method(1, &protocol.BasicQos{}))
	for n := range times {
		if m := expect[*protocol.BasicGetOk](i); m.DeliveryTag != uint64(n+1) {
			t.Fatalf("%d: %+v", n, m)
		}
		for left := -1; left != 0; {
			f, err := i.next()
			i.must(err)
			if h, err := protocol.ParseContentHeader(f.Payload); f.Type == protocol.FrameHeader && err == nil {
				left = int(h.BodySize)
			} else {
				left -= len(f.Payload)
			}
		}
	}
	expect[*protocol.BasicQosOk](i)
	s.undisturbed(b)
}
