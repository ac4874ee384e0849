package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// flowAnswer is the answer of /api/x/flow.
type flowAnswer struct {
	Nodes []struct {
		Kind, Name, Type string
		Missing          bool
	}
	Edges []struct {
		From, To   int
		Kind       string
		Key        *string `json:"routing_key"`
		Unroutable bool
		Bindings   int
		Keys       []string `json:"binding_keys"`
		Counts     map[string]int
	}
	Sources   int
	Truncated bool
}

// lines returns the edges as text, sorted: "queue a -dead_letter k-> exchange x, not there {expired: 1}".
func (f *flowAnswer) lines() (lines []string) {
	name := func(at int) string {
		n := f.Nodes[at]
		if n.Missing != (n.Type == "") {
			return "of no type"
		}
		if n.Missing {
			return n.Kind + " " + n.Name + ", not there"
		}
		return n.Kind + " " + n.Name
	}
	for _, e := range f.Edges {
		how := e.Kind
		if e.Key != nil {
			how += " " + *e.Key
		}
		if e.Unroutable {
			how += " nowhere"
		}
		if e.Bindings > 0 {
			how += fmt.Sprintf(" %d%s", e.Bindings, e.Keys)
		}
		line := name(e.From) + " -" + how + "-> " + name(e.To)
		if len(e.Counts) > 0 {
			line += " " + strings.TrimPrefix(fmt.Sprint(e.Counts), "map")
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// The flow shows where queues forward and dead-letter messages by arguments and policies, over several steps, and how many.
func TestFlow(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, kind := range map[string]string{"dlx": "direct", "words": "topic", "inner": "fanout", "empty": "fanout", "spare": "fanout"} {
			args := amqp.Table{}
			if name == "words" {
				args["alternate-exchange"] = "spare"
			}
			must(ch.ExchangeDeclare(name, kind, false, false, false, false, args))
		}
		ch.Declare("plain", nil)
		ch.Declare("orders", amqp.Table{"x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": "dead", "x-max-length": int64(1)})
		ch.Declare("retry", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders"})
		ch.Declare("lost", amqp.Table{"x-dead-letter-exchange": "nowhere"})
		ch.Declare("unbound", amqp.Table{"x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": "other"})
		ch.Declare("worded", amqp.Table{"x-dead-letter-exchange": "words", "x-dead-letter-routing-key": "a.b.c"})
		ch.Declare("own", amqp.Table{"x-dead-letter-queue": true})
		must(ch.QueueBind("retry", "dead", "dlx", false, nil))
		must(ch.QueueBind("plain", "none", "dlx", false, nil))
		must(ch.ExchangeBind("inner", "a.#.c", "words", false, nil))
		must(ch.QueueBind("plain", "x.*", "words", false, nil))
		must(ch.QueueBind("plain", "", "inner", false, nil))
		w.ask("", "PUT", "/api/policies/%2F/p", `{"pattern":"^plain$","definition":{"forward-to":"empty"}}`)
		ch.Publish("", "orders", amqp.Publishing{})
		ch.Publish("", "orders", amqp.Publishing{})
		ch.Publish("", "orders", amqp.Publishing{})
		b.Advance(0)
		f := get[flowAnswer](w, "/api/x/flow/%2F")
		want := []string{
			"exchange dlx -binding 1[dead]-> queue retry",
			"exchange inner -binding 1[]-> queue plain",
			"exchange words -binding 1[a.#.c]-> exchange inner",
			"queue lost -dead_letter-> exchange nowhere, not there",
			"queue orders -dead_letter dead-> exchange dlx [maxlen:2]",
			"queue own -dead_letter own.dlq-> queue own.dlq",
			"queue plain -forward-> exchange empty",
			"queue retry -dead_letter orders-> queue orders",
			"queue unbound -dead_letter other nowhere-> exchange dlx",
			"queue worded -dead_letter a.b.c-> exchange words",
		}
		if got := f.lines(); !slices.Equal(got, want) {
			t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if f.Sources != 7 || f.Truncated {
			t.Errorf("%d %v", f.Sources, f.Truncated)
		}
		f = get[flowAnswer](w, "/api/x/flow/%2F?name=NOwhere")
		if got := f.lines(); f.Sources != 1 || !slices.Equal(got, want[3:4]) {
			t.Errorf("%q", got)
		}
		ch.Publish("", "plain", amqp.Publishing{})
		b.Advance(0)
		f = get[flowAnswer](w, "/api/x/flow/%2F?name=plain")
		if got := f.lines(); !slices.Equal(got, []string{"queue plain -forward-> exchange empty [forwarded:1]"}) {
			t.Errorf("%q", got)
		}
		w.ask("", "PUT", "/api/users/viewer", `{"password":"v","tags":"management"}`)
		if got := w.ask("viewer:v", "GET", "/api/x/flow/%2F", ""); got.Code != 401 {
			t.Error(got.Code, got.Body)
		}
	})
}

// The number of nodes of a flow is limited; a queue is included only if its targets have room, too.
func TestFlowIsBounded(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		for i := range 1005 {
			ch.Declare(fmt.Sprintf("q%04d", i), amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		}
		f := get[flowAnswer](w, "/api/x/flow/%2F")
		if len(f.Nodes) != 1000 || len(f.Edges) != 999 || f.Sources != 1005 || !f.Truncated {
			t.Errorf("%d %d %d %v", len(f.Nodes), len(f.Edges), f.Sources, f.Truncated)
		}
	})
}

// The levels of delay queues are linked one to the next.
func TestFlowOfLadder(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		serviceBusLadder.build(t, ch.Channel)
		f := get[flowAnswer](w, "/api/x/flow/%2F")
		if f.Sources != ladderLevels+1 || f.Truncated || len(f.Nodes) != 2*ladderLevels+2 { // including delivery, the destination and its retries; no queue sends to the highest exchange
			t.Errorf("%d %v %d %q", f.Sources, f.Truncated, len(f.Nodes), f.lines())
		}
	})
}
