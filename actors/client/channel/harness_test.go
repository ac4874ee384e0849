package channel

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/shell"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a core with an outbox that the test reads, and addresses for all receivers of its mail.
//
// Exchanges: the default one; "x" with keys "one" to q1 and "both" to q1 and q2; "inner" is internal; "h" is a headers exchange
// to q3; "t" is a topic exchange to q1; "void" has no bindings.
type rig struct {
	state
	t     testing.TB
	perms *users.Fixed
	posts []mail.Post // mail sent and not checked yet
	later []any       // mail posted outside of a turn
	asked []any       // commands that expect an answer, oldest first
	reads []*read     // chunks of the reader

	answers []mail.Range // of the last batch, see step
}

// read is one chunk. It is overwritten once it is not referenced any more, as by the next read from the socket.
type read struct {
	chunk *message.Chunk
	bytes []byte
}

func pid(name string) mail.Address { return address.Named(name) }

func newRig(t testing.TB, change ...func(*Config)) *rig {
	r := &rig{t: t, perms: &users.Fixed{}}
	cfg := Config{
		ID: 1, Connection: pid("connection"), Outbox: outbox.New(1<<20, nil), Gate: message.NewGate(1 << 30),
		FrameMax: 4096, VHost: testVHost(), User: auth.User{Name: "guest"}, CancelNotify: true,
		Permissions: r.perms, MaxMessage: 16 << 20, Clock: clock.New(), Log: zerolog.Nop(),
		Post:  func(_ mail.Address, received any) { r.later = append(r.later, received) },
		Close: func() []any { return nil },
	}
	for _, f := range change {
		f(&cfg)
	}
	r.mail.Me = pid("self")
	r.init(cfg)
	return r
}

func testVHost() *topology.VHost {
	v := topology.NewVHost("/")
	v.PID = pid("vhost")
	d := v.Directory().WithExchange(&topology.Exchange{Type: "direct"})
	queues := map[string]*topology.Queue{}
	for _, name := range []string{"q1", "q2", "q3"} {
		queues[name] = &topology.Queue{Name: name, PID: pid(name)}
		d = d.WithQueue(queues[name])
	}
	exchange := func(name, kind string, internal bool, bindings ...string) {
		x := &topology.Exchange{Name: name, Type: kind, PID: pid("exchange/" + name), Internal: internal}
		routes, _ := topology.NewRoutes(kind, nil)
		for i := 0; i < len(bindings); i += 2 {
			b := topology.Binding{Destination: bindings[i], RoutingKey: bindings[i+1]}
			if kind == "headers" {
				b.Arguments = protocol.Table{{Key: "color", Value: "red"}}
			}
			routes, _ = routes.With(b, topology.Target{Queue: queues[bindings[i]]})
		}
		x.Publish(routes)
		d = d.WithExchange(x)
	}
	exchange("x", "direct", false, "q1", "one", "q1", "both", "q2", "both")
	exchange("inner", "fanout", true)
	exchange("h", "headers", false, "q3", "")
	exchange("void", "fanout", false)
	exchange("t", "topic", false, "q1", "#")
	exchange("secret", "fanout", false)
	v.Publish(d)
	return v
}

// watches returns the number of actors that the channel has begun to watch since the last call.
func (r *rig) watches() (n int) {
	r.mail.WatchOver(func(mail.Address) { n++ }, func(mail.Address) {})
	return n
}

// turn processes one mail in the core, with what the shell does after it.
func (r *rig) turn(received any) {
	r.t.Helper()
	r.Handle(received)
	r.sendConfirms()
	r.sendClose()
	for _, p := range r.mail.Out {
		r.posts = append(r.posts, p)
		if request := requestOf(p.Mail); request.ID != 0 {
			r.asked = append(r.asked, p.Mail)
		}
	}
	r.mail.Out = r.mail.Out[:0]
	r.watches()
	r.overwrite()
}

// abort ends the channel as after a panic.
func (r *rig) abort() {
	shell.New(&r.state, &r.mail, &r.in, shell.Config{Clock: r.cfg.Clock, Close: r.cfg.Close}).Abort()
}

func requestOf(received any) mail.Request {
	switch m := received.(type) {
	case *mail.DeclareQueue:
		return m.Request
	case *mail.DeleteQueue:
		return m.Request
	case *mail.DeclareExchange:
		return m.Request
	case *mail.DeleteExchange:
		return m.Request
	case *mail.Bind:
		return m.Request
	case *mail.Unbind:
		return m.Request
	case *mail.Consume:
		return m.Request
	case *mail.CancelConsumer:
		return m.Request
	case *mail.Get:
		return m.Request
	case *mail.Purge:
		return m.Request
	}
	return mail.Request{}
}

// overwrite overwrites released chunks, so that a use after release shows.
func (r *rig) overwrite() {
	r.reads = slices.DeleteFunc(r.reads, func(x *read) bool {
		if x.chunk.Buf != nil {
			return false
		}
		for i := range x.bytes {
			x.bytes[i] = '!'
		}
		return true
	})
}

// feed feeds one read from the socket, with whole frames in one run.
func (r *rig) feed(frames ...[]byte) {
	r.t.Helper()
	r.turn(r.inbound(slices.Concat(frames...)))
}

func (r *rig) inbound(runs ...[]byte) *mail.Inbound {
	size := 0
	for _, run := range runs {
		size += len(run)
	}
	chunk := r.cfg.Gate.NewChunk(max(size, 1))
	r.reads = append(r.reads, &read{chunk, chunk.Buf})
	m := &mail.Inbound{Chunk: chunk}
	at := 0
	for _, run := range runs {
		end := at + copy(chunk.Buf[at:], run)
		m.Runs = append(m.Runs, chunk.Buf[at:end:end])
		at = end
	}
	chunk.Retain()
	chunk.Release() // the reader's own reference
	return m
}

// command feeds methods, each in a read of its own.
func (r *rig) command(methods ...protocol.Method) {
	r.t.Helper()
	for _, m := range methods {
		r.feed(frame(m))
	}
}

// ask feeds a command and answers it with success.
func (r *rig) ask(m protocol.Method) {
	r.t.Helper()
	r.command(m)
	r.succeed()
}

// succeed answers the oldest command in the way its receiver would.
func (r *rig) succeed() { r.t.Helper(); r.reply(nil) }

func (r *rig) reply(err error) {
	r.t.Helper()
	if len(r.asked) == 0 {
		r.t.Fatal("nothing was asked")
	}
	m := r.asked[0]
	r.asked = r.asked[1:]
	head := requestOf(m).Done(err)
	switch m := m.(type) {
	case *mail.DeclareQueue:
		name := m.Name
		if name == "" {
			name = "amq.gen-1"
		}
		r.turn(&mail.DeclareQueueReply{Reply: head, Name: name, MessageCount: 5, ConsumerCount: 2})
	case *mail.DeleteQueue:
		r.turn(&mail.DeleteQueueReply{Reply: head, MessageCount: 7})
	case *mail.Purge:
		r.turn(&mail.PurgeReply{Reply: head, MessageCount: 8})
	case *mail.Consume:
		r.turn(&mail.ConsumeReply{Reply: head, Queue: pid(m.Queue), Tag: m.Tag})
	case *mail.CancelConsumer:
		r.turn(&mail.CancelConsumerReply{Reply: head, Tag: m.Tag})
	case *mail.Get:
		r.turn(&mail.GetReply{Reply: head, Queue: pid(m.Queue), Empty: true})
	default:
		r.turn(&mail.TopologyReply{Reply: head})
	}
}

// sent checks the mail sent since the last call, see describe.
func (r *rig) sent(want ...string) {
	r.t.Helper()
	var got []string
	for _, p := range r.posts {
		got = append(got, r.describe(p))
	}
	r.posts = nil
	r.overwrite()
	if !slices.Equal(got, want) {
		r.t.Errorf("sent:\n got %q\nwant %q", got, want)
	}
}

// describe formats a mail. A batch is taken and released, as by a queue.
func (r *rig) describe(p mail.Post) string {
	to := p.To.GetId() + ": "
	switch m := p.Mail.(type) {
	case *mail.Enqueue:
		text := to + "enqueue"
		for _, x := range m.Messages {
			text += fmt.Sprintf(" %s", x.Body)
			if x.Number != 0 {
				text += fmt.Sprintf("#%d", x.Number)
			}
		}
		m.Release()
		return text
	case *mail.Settle:
		text := to + "settle"
		if m.Durable {
			text = to + "store"
		}
		for _, x := range m.Ranges {
			text += fmt.Sprintf(" %d-%d %s", x.First, x.Last, settled[x.How])
		}
		return text
	case *mail.CloseConnection:
		e := m.Err.(*protocol.ConnectionError)
		return fmt.Sprintf("%s%d %d/%d %s", to, e.Code, e.Class, e.Method, e.Text)
	case *mail.ChannelClosed:
		return fmt.Sprintf("%sclosed %d %v", to, m.ID, m.SendCloseOk)
	case *mail.QosAllow:
		return fmt.Sprintf("%sallow %d", to, m.Messages)
	case *mail.QosReclaim:
		return to + "reclaim"
	case *mail.QosLimited:
		return fmt.Sprintf("%slimit %v", to, m.On)
	case *mail.SetPrefetch:
		return fmt.Sprintf("%sresize %d", to, m.Prefetch)
	case *mail.ReturnWindow:
		return fmt.Sprintf("%sgrant %s %d %d", to, m.Tag, m.Messages, m.Bytes)
	}
	return to + strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", p.Mail), "*mail."))
}

// received checks the frames received by the client since the last call, see show.
func (r *rig) received(want ...string) {
	r.t.Helper()
	if got := r.frames(); !slices.Equal(got, want) {
		r.t.Errorf("received:\n got %q\nwant %q", got, want)
	}
}

func (r *rig) frames() (shown []string) {
	r.t.Helper()
	for b := r.cfg.Outbox.Take(); b != nil; b = r.cfg.Outbox.Take() {
		for len(b) > 0 {
			f, n, _, err := protocol.ParseFrame(b, r.cfg.FrameMax)
			if n == 0 || err != nil || f.Channel != r.cfg.ID || n > int(r.cfg.FrameMax) {
				r.t.Fatalf("bad frame: %v, %d bytes, %v", f, n, err)
			}
			b = b[n:]
			shown = append(shown, show(r.t, f))
		}
	}
	return shown
}

// show formats a frame: "basic.ack {DeliveryTag:5}" without zero fields, "header 5", "body hello" or, beyond 40 bytes, "body of
// 100".
func show(t testing.TB, f protocol.Frame) string {
	switch f.Type {
	case protocol.FrameHeader:
		h, err := protocol.ParseContentHeader(f.Payload)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("header %d", h.BodySize)
	case protocol.FrameBody:
		if len(f.Payload) > 40 {
			return fmt.Sprintf("body of %d", len(f.Payload))
		}
		return "body " + string(f.Payload)
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
			fields = append(fields, fmt.Sprintf("%s:%v", f.Name, v.Field(i)))
		}
	}
	if len(fields) == 0 {
		return m.Key().String()
	}
	return m.Key().String() + " {" + strings.Join(fields, " ") + "}"
}

func frame(m protocol.Method) []byte { return protocol.AppendMethodFrame(nil, 1, m) }

// publish returns a whole content in frames of 4096 bytes.
func publish(exchange, key, body string, properties ...protocol.Properties) []byte {
	return content(&protocol.BasicPublish{Exchange: exchange, RoutingKey: key}, body, properties...)
}

func content(m *protocol.BasicPublish, body string, properties ...protocol.Properties) []byte {
	var p protocol.Properties
	if len(properties) > 0 {
		p = properties[0]
	}
	b := frame(m)
	b = protocol.AppendHeaderFrame(b, 1, uint64(len(body)), p.Append(nil))
	return protocol.AppendBodyFrames(b, 1, []byte(body), 4096)
}

// balanced checks that every read chunk and every charge was released exactly once.
func (r *rig) balanced() {
	r.t.Helper()
	if used := r.cfg.Gate.Used(); used != 0 {
		r.t.Errorf("%d bytes are still charged to the connection", used)
	}
}

func newExchange(name string) *topology.Exchange {
	x := &topology.Exchange{Name: name, Type: "fanout", PID: pid("exchange/" + name)}
	routes, _ := topology.NewRoutes("fanout", nil)
	x.Publish(routes)
	return x
}

// settled names the settlements that the channel sends.
var settled = map[mail.Settlement]string{mail.Ack: "ack", mail.Release: "nack", mail.Requeue: "requeue", mail.Reject: "reject", mail.Discard: "discard"}
