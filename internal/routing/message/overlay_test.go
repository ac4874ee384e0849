package message_test

import (
	"fmt"
	"reflect"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

func headers(t *testing.T, o *message.Overlay, own protocol.Properties) (protocol.Properties, map[string]any) {
	t.Helper()
	raw, err := o.Header(own.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for _, f := range p.Headers {
		values[f.Key] = f.Value
	}
	return p, values
}

func TestDL20EntriesOfXDeath(t *testing.T) {
	var o *message.Overlay
	o = o.Died(message.Death{Queue: "a", Reason: "expired", Exchange: "x", RoutingKeys: []string{"k", "cc"}, Time: 77, OriginalExpiration: "60"})
	o = o.Died(message.Death{Queue: "b", Reason: "rejected", Exchange: "dlx", RoutingKeys: []string{"k"}, Time: 78})
	_, values := headers(t, o, protocol.Properties{})
	entry := func(fields ...any) protocol.Table {
		var table protocol.Table
		for i := 0; i < len(fields); i += 2 {
			table = append(table, protocol.Field{Key: fields[i].(string), Value: fields[i+1]})
		}
		return table
	}
	want := protocol.Array{
		entry("count", int64(1), "reason", "rejected", "queue", "b", "time", protocol.Timestamp(78), "exchange", "dlx",
			"routing-keys", protocol.Array{"k"}),
		entry("original-expiration", "60", "count", int64(1), "reason", "expired", "queue", "a", "time", protocol.Timestamp(77),
			"exchange", "x", "routing-keys", protocol.Array{"k", "cc"}),
	}
	if !reflect.DeepEqual(values["x-death"], want) {
		t.Errorf("got  %v\nwant %v", values["x-death"], want)
	}
}

func TestDL21RepeatedDeathMovesToTheFront(t *testing.T) {
	var o *message.Overlay
	first := message.Death{Queue: "a", Reason: "expired", Exchange: "x", RoutingKeys: []string{"k"}, Time: 1, OriginalExpiration: "60"}
	o = o.Died(first)
	o = o.Died(message.Death{Queue: "a", Reason: "rejected", Exchange: "y", Time: 2}) // another reason is another entry
	before := o
	o = o.Died(message.Death{Queue: "a", Reason: "expired", Exchange: "z", RoutingKeys: []string{"l"}, Time: 3})
	first.Count = 2
	if len(o.Deaths) != 2 || !reflect.DeepEqual(o.Deaths[0], first) || o.Deaths[1].Reason != "rejected" || o.Deaths[1].Count != 1 {
		t.Errorf("%+v", o.Deaths)
	}
	if before.Deaths[0].Reason != "rejected" || before.Deaths[1].Count != 1 {
		t.Error("an overlay was changed")
	}
}

func TestDL22FirstAndLastDeath(t *testing.T) {
	var o *message.Overlay
	o = o.Died(message.Death{Queue: "a", Reason: "expired", Exchange: "x"})
	o = o.Died(message.Death{Queue: "b", Reason: "maxlen", Exchange: "dlx"})
	o = o.Died(message.Death{Queue: "a", Reason: "expired", Exchange: "dlx2"}) // repeated death: the last exchange is the new one
	_, values := headers(t, o, protocol.Properties{})
	for key, want := range map[string]string{
		"x-first-death-queue": "a", "x-first-death-reason": "expired", "x-first-death-exchange": "x",
		"x-last-death-queue": "a", "x-last-death-reason": "expired", "x-last-death-exchange": "dlx2",
	} {
		if values[key] != want {
			t.Errorf("%s: %v, want %s", key, values[key], want)
		}
	}
}

func TestDL23DL24ClientsHistoryIsOverwritten(t *testing.T) {
	own := protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{
		{Key: "x-death", Value: protocol.Array{protocol.Table{{Key: "count", Value: int64(9)}}}},
		{Key: "x-first-death-queue", Value: "mine"},
		{Key: "x-last-death-reason", Value: int32(3)},
		{Key: "mine", Value: "kept"},
	}}
	if _, values := headers(t, nil, own); values["x-first-death-queue"] != "mine" {
		t.Error("untouched until the broker dead-letters it")
	}
	var o *message.Overlay
	o = o.Died(message.Death{Queue: "a", Reason: "expired"})
	_, values := headers(t, o, own)
	if values["x-first-death-queue"] != "a" || values["x-last-death-reason"] != "expired" || values["mine"] != "kept" ||
		len(values["x-death"].(protocol.Array)) != 1 || len(values) != 8 {
		t.Errorf("%v", values)
	}
}

func TestDL17DL18DL19RepublishedProperties(t *testing.T) {
	own := protocol.Properties{
		Flags: protocol.FlagHeaders | protocol.FlagExpiration | protocol.FlagDeliveryMode | protocol.FlagPriority | protocol.FlagMessageID,
		Headers: protocol.Table{
			{Key: "zz", Value: "1"},
			{Key: "CC", Value: protocol.Array{"c"}},
			{Key: "aa", Value: int32(1)},
			{Key: "aa", Value: int32(2)},
		},
		Expiration: "60", DeliveryMode: 2, Priority: 7, MessageID: "id",
	}
	var o *message.Overlay
	p, _ := headers(t, o.Died(message.Death{Queue: "a", Reason: "expired"}), own)
	if p.Has(protocol.FlagExpiration) || p.DeliveryMode != 2 || p.Priority != 7 || p.MessageID != "id" {
		t.Errorf("%+v", p)
	}
	var keys []string
	for _, f := range p.Headers {
		keys = append(keys, f.Key)
	}
	want := []string{
		"CC", "aa", "x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason",
		"x-last-death-exchange", "x-last-death-queue", "x-last-death-reason", "zz",
	}
	if fmt.Sprint(keys) != fmt.Sprint(want) {
		t.Errorf("%v", keys)
	}
}

func TestDL15_KeysAreRemembered(t *testing.T) {
	var none *message.Overlay
	if got := fmt.Sprint(none.Keys("k", true)); got != "[k]" {
		t.Error(got)
	}
	o := &message.Overlay{CC: []string{"a", "b"}, BCC: []string{"c"}}
	for _, o := range []*message.Overlay{o, o.Died(message.Death{Queue: "q", Reason: "expired"})} {
		if got := fmt.Sprint(o.Keys("k", true), o.Keys("k", false)); got != "[k a b c] [k a b]" {
			t.Error(got)
		}
	}
	if o.Dead() || none.Dead() || !o.Died(message.Death{}).Dead() {
		t.Error("dead or not")
	}
	// A message that has not died is delivered byte for byte as it came (DL-19).
	raw := []byte{0x20, 0, 0, 0, 0, 0}
	if got, err := o.Header(raw); err != nil || &got[0] != &raw[0] {
		t.Error("touched", err)
	}
}

// A message that was delayed has a negative x-delay, and is not delayed again.
func TestDLY4Released(t *testing.T) {
	p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{{Key: "x-delay", Value: "5"}, {Key: "a", Value: int32(1)}}}
	raw := p.Append(nil)
	var none *message.Overlay
	for name, o := range map[string]*message.Overlay{
		"released": none.Released(5), "dead": none.Released(5).Died(message.Death{Queue: "q"}), "counted": none.Released(5).Counted(2),
		"keys": (&message.Overlay{CC: []string{"cc"}}).Released(5),
	} {
		header, err := o.Header(raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := protocol.DecodeProperties(header)
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := got.Headers.Get("x-delay"); v != int64(-5) {
			t.Errorf("%s: x-delay %v", name, v)
		}
		if v, _ := got.Headers.Get("a"); v != int32(1) {
			t.Errorf("%s: a %v", name, v)
		}
		if name == "keys" && len(o.CC) != 1 {
			t.Error("CC is gone")
		}
	}
}
