package topology

import (
	"fmt"
	"strconv"
	"testing"

	"candlemark/protocol"
)

// picking is an exchange that routes each message to one of its queues.
type picking struct {
	*Exchange
	routes *BindingTable
	router Router
	dir    *Directory
	p      protocol.Properties
}

func newPicking(kind string, args protocol.Table) *picking {
	x := &picking{Exchange: &Exchange{Name: "x", Type: kind, Arguments: args}, dir: &Directory{}}
	x.routes, _ = NewRoutes(kind, args)
	x.router.Properties = func() (protocol.Properties, []byte, int) { return x.p, nil, 0 }
	return x
}

func (x *picking) bind(queue, key string) Binding {
	b := Binding{Destination: queue, RoutingKey: key}
	x.routes, _ = x.routes.With(b, Target{Queue: &Queue{Name: queue}})
	x.Publish(x.routes)
	return b
}

func (x *picking) unbind(b Binding) {
	x.routes, _ = x.routes.Without(b)
	x.Publish(x.routes)
}

// to returns the queue to which a message is routed, or "".
func (x *picking) to(t *testing.T, key string, headers protocol.Table) string {
	t.Helper()
	switch list := x.router.Route(x.dir, x.Exchange, []byte(key), func() protocol.Table { return headers }); len(list) {
	case 0:
		return ""
	case 1:
		return list[0].Name
	default:
		t.Fatalf("%d queues", len(list))
		return ""
	}
}

const pickedKeys = 20_000

func (x *picking) all(t *testing.T) (by []string, count map[string]int) {
	count = map[string]int{}
	for i := range pickedKeys {
		by = append(by, x.to(t, "key-"+strconv.Itoa(i), nil))
		count[by[i]]++
	}
	return by, count
}

// Queues get messages by weight within 5 %, and only keys that a new or removed binding affects move.
func TestDEC16ConsistentHash(t *testing.T) {
	x := newPicking(ConsistentHashType, nil)
	if got := x.to(t, "k", nil); got != "" {
		t.Errorf("without bindings: %q", got)
	}
	for i := range 8 {
		x.bind(fmt.Sprint("q", i), strconv.Itoa(1+i%2*2))
	}
	before, count := x.all(t)
	for i := range 8 {
		if want := pickedKeys / 16 * (1 + i%2*2); count[fmt.Sprint("q", i)] < want*95/100-60 || count[fmt.Sprint("q", i)] > want*105/100+60 {
			t.Errorf("q%d has %d messages, not some %d", i, count[fmt.Sprint("q", i)], want)
		}
	}
	more := x.bind("more", "4")
	with, count := x.all(t)
	for i := range with {
		if with[i] != before[i] && with[i] != "more" {
			t.Fatalf("key %d moved from %s to %s", i, before[i], with[i])
		}
	}
	if n := count["more"]; n < pickedKeys/5*9/10 || n > pickedKeys/5*11/10 {
		t.Errorf("the new queue has %d of %d", n, pickedKeys)
	}
	x.unbind(more)
	if after, _ := x.all(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("not all keys are back where they were")
	}
	if !x.router.Steady() {
		t.Error("a route by the key alone can be kept")
	}
}

// The same key is routed to the same queue after a restart, and in the next version.
func TestDEC16SameInEveryProcess(t *testing.T) {
	for kind, want := range map[string]string{ConsistentHashType: "q2 q0 q0 q2", ModulusHashType: "q1 q1 q3 q4"} {
		x := newPicking(kind, nil)
		for i := range 5 {
			x.bind(fmt.Sprint("q", i), "1")
		}
		if got := fmt.Sprint(x.to(t, "a", nil), " ", x.to(t, "b", nil), " ", x.to(t, "", nil), " ", x.to(t, "order.12345", nil)); got != want {
			t.Errorf("%s: %s, not %s", kind, got, want)
		}
	}
}

func TestDEC16HashedBy(t *testing.T) {
	for name, test := range map[string]struct {
		args protocol.Table
		set  func(x *picking, value string) protocol.Table
	}{
		"header": {
			protocol.Table{{Key: "hash-header", Value: "k"}},
			func(_ *picking, value string) protocol.Table { return protocol.Table{{Key: "k", Value: value}} },
		},
		"message_id": {
			protocol.Table{{Key: "hash-property", Value: "message_id"}},
			func(x *picking, value string) protocol.Table { x.p.MessageID = value; return nil },
		},
		"correlation_id": {
			protocol.Table{{Key: "hash-property", Value: "correlation_id"}},
			func(x *picking, value string) protocol.Table { x.p.CorrelationID = value; return nil },
		},
		"timestamp": {
			protocol.Table{{Key: "hash-property", Value: "timestamp"}},
			func(x *picking, value string) protocol.Table {
				n, _ := strconv.ParseUint(value, 10, 64)
				x.p.Timestamp = protocol.Timestamp(n)
				return nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newPicking(ConsistentHashType, test.args)
			for i := range 4 {
				x.bind(fmt.Sprint("q", i), "10")
			}
			seen, none := map[string]bool{}, x.to(t, "any", nil)
			for i := range 100 {
				value := strconv.Itoa(i + 1)
				headers := test.set(x, value)
				first := x.to(t, "one", headers)
				if first != x.to(t, "another", headers) {
					t.Fatalf("%s: the routing key counts", value)
				}
				seen[first] = true
			}
			if len(seen) != 4 {
				t.Errorf("only %d queues get anything", len(seen))
			}
			if x.router.Steady() {
				t.Error("the route is said to depend on the key alone")
			}
			x.p = protocol.Properties{}
			if got := x.to(t, "other", protocol.Table{{Key: "z", Value: "z"}}); got != none {
				t.Errorf("without: %s and %s", none, got)
			}
		})
	}
}

// All queues get about the same number of messages, with the caps of the queue drawn.
func TestDEC16Random(t *testing.T) {
	for _, kind := range []string{RandomType, LocalRandomType} {
		x := newPicking(kind, nil)
		for i := range 4 {
			x.bind(fmt.Sprint("q", i), "")
		}
		x.routes = x.routes.WithMaxTTL(1000)
		x.Publish(x.routes)
		count := map[string]int{}
		for range 4000 {
			count[x.to(t, "same", nil)]++
			if x.router.Steady() {
				t.Fatal("a route by chance is said to be steady")
			}
			if caps := x.router.Caps(); len(caps) != 1 || caps[0] != 1000 {
				t.Fatalf("caps %v", caps)
			}
		}
		for name, n := range count {
			if n < 800 || n > 1200 {
				t.Errorf("%s: %s has %d of 4000", kind, name, n)
			}
		}
	}
}

// If the exchange is behind another one, the caps are found by the same random draw as the queue.
func TestDEC16RandomBehindAnother(t *testing.T) {
	x := newPicking(RandomType, nil)
	for i := range 16 {
		x.bind(fmt.Sprint("q", i), "")
	}
	x.routes = x.routes.WithMaxTTL(1000)
	x.Publish(x.routes)
	front := &Exchange{Name: "front", Type: "fanout"}
	routes, _ := NewRoutes("fanout", nil)
	routes, _ = routes.With(Binding{Destination: "x", ToExchange: true}, Target{Exchange: x.Exchange})
	front.Publish(routes)
	for range 200 {
		queues := x.router.Route(x.dir, front, []byte("k"), nil)
		if caps := x.router.Caps(); len(queues) != 1 || len(caps) != 1 || caps[0] != 1000 {
			t.Fatalf("%d queues, caps %v", len(queues), caps)
		}
	}
}

func TestDEC16Validate(t *testing.T) {
	key := func(kind, key string) *protocol.ChannelError {
		return ValidateBinding(kind, Binding{RoutingKey: key}, &Queue{Type: "classic"})
	}
	args := func(fields ...protocol.Field) *protocol.ChannelError {
		return ValidateExchange(ConsistentHashType, fields)
	}
	for want, got := range map[string]*protocol.ChannelError{
		`The binding key must be an integer: <<"many">>`:                  key(ConsistentHashType, "many"),
		`The binding key must be an integer: <<"1.5">>`:                   key(ConsistentHashType, "1.5"),
		`The binding key must be greater than 0`:                          key(ConsistentHashType, "0"),
		`Non empty binding 'k' key not permitted`:                         key(LocalRandomType, "k"),
		`Destination not found`:                                           ValidateBinding(LocalRandomType, Binding{}, nil),
		`Queue type rabbit_quorum_queue not valid for this exchange type`: ValidateBinding(LocalRandomType, Binding{}, &Queue{Type: "quorum"}),
		`hash-header and hash-property are mutually exclusive`:            args(protocol.Field{Key: "hash-header", Value: "a"}, protocol.Field{Key: "hash-property", Value: "timestamp"}),
		`Unsupported property: type`:                                      args(protocol.Field{Key: "hash-property", Value: "type"}),
		`invalid type 'signedint' for arg 'hash-header'`:                  args(protocol.Field{Key: "hash-header", Value: int32(1)}),
	} {
		if got == nil || got.Code != protocol.PreconditionFailed || got.Text != "PRECONDITION_FAILED - "+want {
			t.Errorf("%v, not %q", got, want)
		}
	}
	for _, fine := range []*protocol.ChannelError{
		key(ConsistentHashType, "+7"), key(ConsistentHashType, "100000000000000000000"), key(LocalRandomType, ""), key(RandomType, "x"),
		key(ModulusHashType, ""), args(), args(protocol.Field{Key: "hash-property", Value: "message_id"}), ValidateExchange("direct", nil),
	} {
		if fine != nil {
			t.Error(fine)
		}
	}
}
