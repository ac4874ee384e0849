package document

import (
	"encoding/json"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/policies"
)

// Lists of pairs are objects at the levels where a definition has objects (DEF-9).
func TestDEF9_ListsOfPairs(t *testing.T) {
	for _, c := range []struct {
		levels         int
		document, want string
	}{
		{1, `[["max-queues",50]]`, `{"max-queues":50}`},
		{1, ` [ [ "b" , 2 ] , [ "a" , 1 ] ] `, `{"b":2,"a":1}`},
		{1, `[["a",[["b",1]]]]`, `{"a":[["b",1]]}`},
		{3, `[["a",[["b",1]]]]`, `{"a":{"b":1}}`},
		{3, `{"definition":[["max-length",5]],"pattern":"[a]"}`, `{"definition":{"max-length":5},"pattern":"[a]"}`},
		{3, `[[["upstream","u"]],[["upstream","v"]]]`, `[{"upstream":"u"},{"upstream":"v"}]`},
		{3, `{ "b" : ["amqp://a","amqp://b"], "a": [] }`, `{ "b" : ["amqp://a","amqp://b"], "a": [] }`},
		{3, `[]`, `[]`},
		{3, `[["a"]]`, `[["a"]]`},
		{3, `[["a",1],[1,"a"]]`, `[["a",1],[1,"a"]]`},
		{0, `[["a",1]]`, `[["a",1]]`},
		{3, `"[a"`, `"[a"`},
	} {
		if got := string(withObjects(json.RawMessage(c.document), c.levels)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.document, got, c.want)
		}
	}
}

// Limits, operator policies and global parameters arrive as they were, whether the document has objects or lists of pairs
// (DEF-9). In a document of this broker a list is a list.
func TestDEF9_ValuesOfPairs(t *testing.T) {
	p := judged(t, `{
		"vhosts": [{"name":"w","limits":[["max-queues",50],["max-connections",7]]}],
		"parameters": [
			{"vhost":"w","component":"operator_policy","name":"op","value":[["pattern","^q"],["definition",[["max-length",5]]],["priority",0],["apply-to","queues"]]},
			{"vhost":"w","component":"vhost-limits","name":"limits","value":[["max-queues",60]]}
		],
		"global_parameters": [{"name":"g","value":[["a",1]]}]
	}`, "")
	if v := p.Items[0].Value.(auth.VHost); v.Limits[auth.MaxQueues] != 50 || v.Limits[auth.MaxConnections] != 7 {
		t.Errorf("%+v", v)
	}
	if op := p.Items[1].Value.(*policies.Policy); op.Pattern != "^q" || len(op.Definition) != 1 || !op.Operator {
		t.Errorf("%+v", op)
	}
	if l := p.Items[2].Value.(VHostLimits); l.Limits[auth.MaxQueues] != 60 {
		t.Errorf("%+v", l)
	}
	if g := p.Items[3].Value.(Global); string(g.Value) != `{"a":1}` {
		t.Errorf("%s", g.Value)
	}
	p = judged(t, `{"product_name":"Candlemark","global_parameters":[{"name":"g","value":[["a",1]]}]}`, "")
	if g := p.Items[0].Value.(Global); string(g.Value) != `[["a",1]]` {
		t.Errorf("%s", g.Value)
	}
}

// A policy in a section of our own replaces the part of it that stands in RabbitMQ's section (DEF-10), operator policies too.
func TestDEF10_LaterSectionCounts(t *testing.T) {
	p := judged(t, `{
		"candlemark_policies": [{"vhost":"/","name":"p","pattern":"^q","definition":{"delayed-messages":true,"max-length":5}}],
		"candlemark_parameters": [{"vhost":"/","component":"operator_policy","name":"p","value":{"pattern":"^q","definition":{"message-ttl":1}}}],
		"candlemark_exchanges": [{"vhost":"/","name":"late","type":"x-delayed-message","durable":true,"arguments":{"x-delayed-type":"direct"}}],
		"candlemark_bindings": [{"vhost":"/","source":"late","destination":"q","destination_type":"queue","routing_key":""}],
		"policies": [
			{"vhost":"/","name":"p","pattern":"^q","definition":{"max-length":5}},
			{"vhost":"/","name":"other","pattern":"^q","definition":{"max-length":6}}
		],
		"queues": [{"vhost":"/","name":"q","durable":true}],
		"candlemark_news": []
	}`, "")
	want := `warning: unknown section "candlemark_news" is ignored
parameters taken [/] p
policies taken [/] other
policies taken [/] p
exchanges taken [/] late
queues taken [/] q
bindings taken [/] late → q
`
	if got := report(p); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if kept := p.Items[2].Value.(*policies.Policy); len(kept.Definition) != 2 {
		t.Errorf("%+v", kept)
	}
}
