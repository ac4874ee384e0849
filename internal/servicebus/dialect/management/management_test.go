package management

import (
	"errors"
	"strings"
	"testing"

	"candlemark/internal/routing/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request encodes a request and reads it.
func request(t *testing.T, verb, path string, body any) *Request {
	t.Helper()
	v, err := amqp10.Append(nil, body)
	if err != nil {
		t.Fatal(err)
	}
	b := amqp10.AppendComposite(nil, &amqp10.Properties{
		MessageID: amqp10.AppendULong(nil, 7), Subject: amqp10.Text(verb), To: amqp10.Text(path), ReplyTo: amqp10.Text("$me"),
	})
	r, err := Read(amqp10.AppendSection(b, amqp10.SectionValue, v))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOperation(t *testing.T) {
	for _, c := range []struct {
		verb, path string
		body       any
		want       protocol.Method
	}{
		{"PUT", "/queues/q", amqp10.Map{}, &protocol.QueueDeclare{Queue: "q", Durable: true}},
		{
			"PUT", "/queues/a%2Fb",
			amqp10.Map{{Key: "durable", Value: false}, {Key: "exclusive", Value: true}, {Key: "auto_delete", Value: true}},
			&protocol.QueueDeclare{Queue: "a/b", Exclusive: true, AutoDelete: true},
		},
		{"DELETE", "/queues/q", nil, &protocol.QueueDelete{Queue: "q"}},
		{"DELETE", "/queues/q/messages", nil, &protocol.QueuePurge{Queue: "q"}},
		{
			"PUT", "/exchanges/x",
			amqp10.Map{{Key: "type", Value: "x-delayed-message"}, {Key: "internal", Value: true}},
			&protocol.ExchangeDeclare{Exchange: "x", Type: "x-delayed-message", Durable: true, Internal: true},
		},
		{"DELETE", "/exchanges/x", nil, &protocol.ExchangeDelete{Exchange: "x"}},
		{
			"POST", "/bindings",
			amqp10.Map{{Key: "source", Value: "x"}, {Key: "destination_queue", Value: "q"}, {Key: "binding_key", Value: "k"}},
			&protocol.QueueBind{Queue: "q", Exchange: "x", RoutingKey: "k"},
		},
		{
			"POST", "/bindings",
			amqp10.Map{{Key: "source", Value: "x"}, {Key: "destination_exchange", Value: "y"}},
			&protocol.ExchangeBind{Destination: "y", Source: "x"},
		},
		{"DELETE", "/bindings/src=x;dstq=q;key=;args=", nil, &protocol.QueueUnbind{Queue: "q", Exchange: "x"}},
		{"DELETE", "/bindings/src=x;dste=y;key=a%3Bb;args=", nil, &protocol.ExchangeUnbind{Destination: "y", Source: "x", RoutingKey: "a;b"}},
	} {
		o, err := request(t, c.verb, c.path, c.body).Operation("/")
		if err != nil {
			t.Errorf("%s %s: %v", c.verb, c.path, err)
			continue
		}
		if got, want := protocol.AppendMethodFrame(nil, 0, o.Method), protocol.AppendMethodFrame(nil, 0, c.want); string(got) != string(want) {
			t.Errorf("%s %s: %+v", c.verb, c.path, o.Method)
		}
	}
}

// A name has at most 255 bytes, encoded in any length.
func TestOperation_LongNames(t *testing.T) {
	for _, c := range []struct {
		name string
		fits bool
	}{{strings.Repeat("q", 255), true}, {strings.Repeat("q", 256), false}, {strings.Repeat("%71", 255), true}, {strings.Repeat("%71", 256), false}} {
		_, err := request(t, "PUT", "/queues/"+c.name, amqp10.Map{}).Operation("/")
		var refusal *Refusal
		if (err == nil) != c.fits || !c.fits && (!errors.As(err, &refusal) || refusal.Code != 400) {
			t.Errorf("%d bytes: %v", len(c.name), err)
		}
	}
}

// Arguments are converted to a table; if they cannot be, the request is refused.
func TestOperation_Arguments(t *testing.T) {
	arguments := amqp10.Map{{Key: amqp10.Symbol("x-expires"), Value: uint64(5)}, {Key: "x-list", Value: amqp10.List{"a", int32(1)}}}
	o, err := request(t, "PUT", "/queues/q", amqp10.Map{{Key: "arguments", Value: arguments}}).Operation("/")
	if err != nil {
		t.Fatal(err)
	}
	table := o.Method.(*protocol.QueueDeclare).Arguments
	if v, _ := table.Get("x-expires"); v != int64(5) || len(table) != 2 {
		t.Errorf("%v", table)
	}
	arguments[0].Value = amqp10.Decimal32{}
	var refusal *Refusal
	if _, err = request(t, "PUT", "/queues/q", amqp10.Map{{Key: "arguments", Value: arguments}}).Operation("/"); !errors.As(err, &refusal) || refusal.Code != 400 {
		t.Error(err)
	}
}

// A binding is found only by the hash in its location.
func TestBindings_Location(t *testing.T) {
	x := &topology.Exchange{Name: "x", Type: "headers"}
	routes, _ := topology.NewRoutes("headers", nil)
	for _, args := range []protocol.Table{nil, {{Key: "a", Value: "1"}, {Key: "b", Value: int32(2)}}, {{Key: "a", Value: "2"}}} {
		routes, _ = routes.With(topology.Binding{Destination: "q", RoutingKey: "k", Arguments: args}, topology.Target{Queue: &topology.Queue{Name: "q"}})
	}
	x.Publish(routes)
	b := Bindings{Source: "x", Destination: "q", Key: "k"}
	all := b.List(x).Body.(amqp10.List)
	if len(all) != 3 {
		t.Fatal(all)
	}
	seen := map[string]bool{}
	for _, one := range all {
		location, _ := one.(amqp10.Map).Get("location")
		o, err := request(t, "DELETE", location.(string), nil).Operation("/")
		if err != nil {
			t.Fatal(err)
		}
		m, ok := o.Bindings.Unbind(x).(*protocol.QueueUnbind)
		if !ok {
			t.Fatal(location)
		}
		seen[hash(m.Arguments)] = true
	}
	b.Hash = "AAAA"
	if len(seen) != 3 || b.Unbind(x) != nil || b.Unbind(nil) != nil {
		t.Error(seen)
	}
}

// Refusals have the status code for the operation, and the text without the name of the error code.
func TestRefused(t *testing.T) {
	declare, other := &Operation{Kind: DeclareQueue}, &Operation{Kind: Bind}
	for _, c := range []struct {
		o    *Operation
		err  error
		code int
		text string
	}{
		{declare, protocol.ChannelErrorf(protocol.PreconditionFailed, "a - b"), 409, "a - b"},
		{other, protocol.ChannelErrorf(protocol.PreconditionFailed, "a"), 400, "a"},
		{other, protocol.ChannelErrorf(protocol.AccessRefused, "a"), 403, "a"},
		{other, protocol.ChannelErrorf(protocol.NotFound, "a"), 400, "a"},
		{&Operation{Kind: DescribeQueue}, protocol.ChannelErrorf(protocol.NotFound, "a"), 404, "a"},
		{other, protocol.ConnectionErrorf(protocol.CommandInvalid, "a"), 400, "a"},
		{other, protocol.ConnectionErrorf(protocol.InternalError, "a"), 500, "a"},
		{nil, refuse(404, "a"), 404, "a"},
		{other, errors.New("secret"), 500, "the broker failed"},
	} {
		if got := c.o.Refused(c.err); got.Code != c.code || got.Body != c.text {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// For any input, reading a request does not panic, and its answer can be read.
func FuzzRequest(f *testing.F) {
	f.Add("PUT", "/queues/q", []byte{0x40})
	f.Add("GET", "/bindings?src=x&dstq=q&key=", []byte{0x40})
	f.Add("DELETE", "/bindings/src=x;dstq=q;key=;args=", []byte{0xc1, 1, 0})
	f.Fuzz(func(t *testing.T, verb, path string, body []byte) {
		b := amqp10.AppendComposite(nil, &amqp10.Properties{Subject: amqp10.Text(strings.ToValidUTF8(verb, "")), To: amqp10.Text(strings.ToValidUTF8(path, ""))})
		r, err := Read(append(amqp10.AppendDescriptor(b, amqp10.SectionValue), body...))
		if err != nil {
			return
		}
		o, err := r.Operation("/")
		a := o.Refused(err)
		if _, err := amqp10.ScanSections(r.Append(nil, a)); err != nil {
			t.Error(err)
		}
	})
}
