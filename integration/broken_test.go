package integration

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/protocol"
)

// phase is the state of a connection in which it sends invalid input.
type phase uint8

const (
	silent   phase = iota // nothing has been sent yet
	started               // connection.start was received
	tuned                 // connection.tune was received
	opened                // channel 1 is open
	midway                // a publish on channel 1 lacks its header
	flooding              // a publish on channel 1 lacks its body
)

// broken is an invalid input that no client should send.
type broken struct {
	at  phase
	say []byte
}

// brokenSize is the body size that the message of phase flooding announces.
const brokenSize = 10

// reach brings a connection to a phase.
func (i *rawClient) reach(at phase) {
	i.Helper()
	if at >= started {
		i.say(protocol.ProtocolHeader[:])
		expect[*protocol.ConnectionStart](i)
	}
	if at >= tuned {
		i.say(method(0, &protocol.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "en_US"}))
		expect[*protocol.ConnectionTune](i)
	}
	if at >= opened {
		i.say(method(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: frameMax}), method(0, &protocol.ConnectionOpen{VirtualHost: "/"}))
		expect[*protocol.ConnectionOpenOk](i)
		i.open(1)
	}
	if at >= midway {
		i.say(method(1, &protocol.BasicPublish{Exchange: "amq.headers", RoutingKey: "k"}))
	}
	if at >= flooding {
		i.say(protocol.AppendHeaderFrame(nil, 1, brokenSize, []byte{0, 0}))
	}
}

// quiet limits the wait for an answer. Errors in a handshake are answered after three seconds, to slow down guessing of
// passwords.
const quiet = 12 * time.Second

// answer returns the broker's reaction: refusals, the end of the connection, or evidence that the channel and the connection
// still work.
func (i *rawClient) answer(at phase) string {
	if at >= opened {
		i.say(method(1, &protocol.BasicQos{PrefetchCount: 7}), method(sentinel, &protocol.ChannelOpen{}))
	}
	i.must(i.SetDeadline(time.Now().Add(quiet)))
	var all []string
	say := func(format string, args ...any) string {
		all = append(all, fmt.Sprintf(format, args...))
		return strings.Join(all, ", ")
	}
	channel, connection := false, false
	for !channel || !connection {
		f, err := i.next()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return say("silence")
		case err != nil && len(i.buf) > 0:
			return say("%q", i.buf)
		case err != nil:
			return say("the end")
		case f.Type != protocol.FrameMethod:
			say("frame of type %d", f.Type)
			continue
		}
		m, err := protocol.DecodeMethod(f.Payload)
		switch m := m.(type) {
		case nil:
			return say("%v", err)
		case *protocol.ConnectionClose:
			return say("connection.close %d %s", m.ReplyCode, m.ReplyText)
		case *protocol.ChannelClose:
			channel = true
			say("channel.close %d %s", m.ReplyCode, m.ReplyText)
			i.say(method(f.Channel, &protocol.ChannelCloseOk{}))
		case *protocol.ChannelCloseOk: // may be sent before or after the answer on that channel
			return say("%s", m.Key().String())
		case *protocol.BasicQosOk:
			channel = true
		case *protocol.ChannelOpenOk:
			if connection = connection || f.Channel == sentinel; f.Channel != sentinel {
				say("%s", m.Key().String())
			}
		default:
			say("%s", m.Key().String())
		}
	}
	return strings.TrimSpace(strings.Join(append(all, "goes on"), ", "))
}

// sentinel is a channel that is opened after the invalid input.
const sentinel = 2000

// atOnce is how many inputs are tested concurrently; most of them wait.
const atOnce = 250

// TestBrokenInput: some hundred kinds of invalid input, in every state of a connection: frames, methods in wrong states,
// inconsistent arguments and tables, headers. Each is refused as recorded in the golden file, other clients are unaffected, and
// memory does not grow.
func TestBrokenInput(t *testing.T) {
	t.Parallel()
	b := start(t, "--handshake-timeout", "1m") // longer than quiet
	s := b.bystander()
	s.must(s.QueueBind(s.queue, "", "amq.headers", false, map[string]any{"x-match": "all", "never": "there"}))
	all := brokenInput()
	t.Logf("%d kinds", len(all))
	most := b.watchMemory()
	names := slices.Sorted(maps.Keys(all))
	answers := make([]string, len(names))
	var next atomic.Int64
	var working sync.WaitGroup
	for range atOnce {
		working.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(names)); n = next.Add(1) - 1 {
				t.Run(names[n], func(t *testing.T) {
					x, i := all[names[n]], b.connectRaw(t)
					i.reach(x.at)
					i.say(x.say)
					answers[n] = names[n] + ": " + i.answer(x.at) + "\n"
				})
				if n%50 == 0 {
					s.undisturbed(b)
				}
			}
		})
	}
	working.Wait()
	s.undisturbed(b)
	if n := most(); n > 150<<20 && !racing {
		t.Errorf("memory came to %d bytes", n)
	}
	got := strings.Join(answers, "")
	if strings.Contains(got, " 541 ") {
		t.Error("something broke inside")
	}
	compareGolden(t, "testdata/broken.golden", got)
}

// compareGolden compares got with a golden file, or rewrites the file if that was requested.
func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	was := slices.Collect(strings.Lines(string(want)))
	for line := range strings.Lines(got) {
		if !slices.Contains(was, line) {
			t.Errorf("got  %s", line)
		}
	}
	for _, line := range was {
		if !strings.Contains(got, line) {
			t.Errorf("want %s", line)
		}
	}
}

// session returns all bytes that an ordinary client sends, from the first to the last.
func session() []byte {
	args := protocol.Table{{Key: "x-expires", Value: int32(60000)}, {Key: "list", Value: protocol.Array{int32(1), "two", protocol.Table{{Key: "a", Value: true}}}}}
	properties := protocol.Properties{ContentType: "text/plain", DeliveryMode: 2, Headers: args, Expiration: "60000", MessageID: "m"}
	p := bytes.Clone(protocol.ProtocolHeader[:])
	for _, x := range [][]byte{
		method(0, &protocol.ConnectionStartOk{ClientProperties: args, Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "en_US"}),
		method(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: frameMax}),
		method(0, &protocol.ConnectionOpen{VirtualHost: "/"}),
		method(1, &protocol.ChannelOpen{}),
		method(1, &protocol.ConfirmSelect{}),
		method(1, &protocol.QueueDeclare{Queue: "session", Exclusive: true, Arguments: args}),
		method(1, &protocol.QueueBind{Queue: "session", Exchange: "amq.topic", RoutingKey: "a.*", Arguments: args}),
		method(1, &protocol.BasicConsume{Queue: "session", ConsumerTag: "tag", Arguments: args}),
		method(1, &protocol.BasicPublish{Exchange: "amq.topic", RoutingKey: "a.b", Mandatory: true}),
		protocol.AppendHeaderFrame(nil, 1, 5, properties.Append(nil)),
		protocol.AppendBodyFrames(nil, 1, []byte("hello"), frameMax),
		method(1, &protocol.BasicAck{DeliveryTag: 1}),
		method(1, &protocol.ChannelClose{ReplyCode: 200}),
		method(0, &protocol.ConnectionClose{ReplyCode: 200}),
	} {
		p = append(p, x...)
	}
	return p
}

// A session that is cut at any of its bytes, or has any of its bytes corrupted, affects no other client.
func TestBrokenAtEveryByte(t *testing.T) {
	t.Parallel()
	b := start(t, "--handshake-timeout", "5s")
	s := b.bystander()
	whole := session()
	most := b.watchMemory()
	say := func(p []byte, how int) {
		conn, err := net.Dial("tcp", b.amqp)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(p)
		if how%3 == 0 { // the others disconnect without waiting for an answer
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			for buf := make([]byte, 4096); err == nil; {
				_, err = conn.Read(buf)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%d bytes: the broker does not hang up", len(p))
			}
		}
		_ = conn.Close()
	}
	for at := range whole {
		say(whole[:at], at)
		for _, bits := range []byte{0x01, 0x80, 0xff} {
			p := bytes.Clone(whole)
			p[at] ^= bits
			say(p, at+int(bits))
		}
		if at%100 == 0 {
			s.undisturbed(b)
		}
	}
	s.undisturbed(b)
	eventually(t, "the session's queue is gone with its connections", func() bool { return !s.takes("session") })
	if n := most(); n > 150<<20 && !racing {
		t.Errorf("memory came to %d bytes", n)
	}
	t.Logf("%d connections", 4*len(whole))
}
