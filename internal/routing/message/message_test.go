package message_test

import (
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An owned message does not change when the buffer that it was read into is reused, and appending to one part does not overwrite the next.
func TestMessage_Own(t *testing.T) {
	read := []byte("exchangekeyheaderbody")
	m := message.Message{Exchange: read[:8], RoutingKey: read[8:11], Header: read[11:17], Body: read[17:], Number: 3, TTL: 60000}
	if m.Size() != len(read) {
		t.Errorf("size %d", m.Size())
	}
	m.Own()
	for i := range read {
		read[i] = '!'
	}
	grown := append(m.RoutingKey, "XXXXXX"...)
	if string(m.Exchange) != "exchange" || string(m.RoutingKey) != "key" || string(m.Header) != "header" || string(m.Body) != "body" ||
		!m.Owned || m.Number != 3 || m.TTL != 60000 || string(grown) != "keyXXXXXX" {
		t.Errorf("%s %s %s %s %+v", m.Exchange, m.RoutingKey, m.Header, m.Body, m)
	}
	body := &m.Body[0]
	if m.Own(); &m.Body[0] != body {
		t.Error("copied twice")
	}
	if n := testing.AllocsPerRun(10, func() {
		x := message.Message{Exchange: read[:8], Body: read[8:]}
		x.Own()
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// The publisher's properties are sent byte for byte unless something is added; then all of them are kept.
func TestOverlay_PropertiesAreKept(t *testing.T) {
	own := protocol.Properties{
		Flags: 0xFFFC, ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: 2, Priority: 9, CorrelationID: "c", ReplyTo: "r",
		Expiration: "1", MessageID: "m", Timestamp: 12345, Type: "t", UserID: "u", AppID: "a", ClusterID: "cl",
		Headers: protocol.Table{
			{Key: "z", Value: nil},
			{Key: "b", Value: protocol.Table{{Key: "in", Value: protocol.Array{int8(1), "x", 2.5}}}},
			{Key: "a", Value: []byte{0, 255}},
			{Key: "b", Value: "again"},
		},
	}
	raw := own.Append(nil)
	var none *message.Overlay
	if got, err := none.Header(raw); err != nil || &got[0] != &raw[0] {
		t.Error("touched", err)
	}
	got, err := (&message.Overlay{}).Header(raw)
	if err != nil || string(got) != string(raw) {
		t.Errorf("%q %v", got, err)
	}
	p, values := headers(t, none.Died(message.Death{Queue: "q", Reason: "rejected"}), own)
	if p.Flags != own.Flags&^protocol.FlagExpiration || p.ContentType != "text/plain" || p.ContentEncoding != "gzip" || p.DeliveryMode != 2 ||
		p.Priority != 9 || p.CorrelationID != "c" || p.ReplyTo != "r" || p.MessageID != "m" || p.Timestamp != 12345 || p.Type != "t" ||
		p.UserID != "u" || p.AppID != "a" || p.ClusterID != "cl" {
		t.Errorf("%+v", p)
	}
	_, isTable := values["b"].(protocol.Table)
	if _, has := values["z"]; !has || !isTable || len(values["a"].([]byte)) != 2 {
		t.Errorf("%v", values)
	}
	if string(own.Append(nil)) != string(raw) {
		t.Error("the publisher's headers were changed")
	}
	for _, bad := range [][]byte{nil, {0x80}, {0x80, 0, 5}, {0x20, 0, 0, 0, 0, 9}} {
		if _, err := (&message.Overlay{DropExpiration: true}).Header(bad); err == nil {
			t.Errorf("%v was read", bad)
		}
	}
}

func TestOverlay_FormatTTL(t *testing.T) {
	for ms, want := range map[int64]string{message.NoTTL: "", 0: "0", 60000: "60000"} {
		if got := message.FormatTTL(ms); got != want {
			t.Errorf("%d: %q", ms, got)
		}
	}
}

// died makes an overlay with deaths, oldest first: queue, reason, queue, reason…
func died(deaths ...string) *message.Overlay {
	var o *message.Overlay
	for i := 0; i < len(deaths); i += 2 {
		o = o.Died(message.Death{Queue: deaths[i], Reason: deaths[i+1]})
	}
	return o
}

// Cycles are the cycles that DL-25 defines, including the cases that DL-26 lists.
func TestDL25_DL26_Cycles(t *testing.T) {
	for _, c := range []struct {
		name   string
		died   *message.Overlay
		target string
		cycle  bool
	}{
		{"no history", nil, "a", false},
		{"no deaths", &message.Overlay{DropExpiration: true}, "a", false},
		{"self by TTL", died("a", "expired"), "a", true},
		{"self by maxlen", died("a", "maxlen"), "a", true},
		{"self by rejection", died("a", "rejected"), "a", false},
		{"another queue", died("a", "expired"), "b", false},
		{"a b a, all expired", died("a", "expired", "b", "expired"), "a", true},
		{"rejected in a, expired in b, back to a", died("a", "rejected", "b", "expired"), "a", false},
		{"rejected in a, then b c b by expiry", died("a", "rejected", "b", "expired", "c", "expired"), "b", true},
		{"rejected in a, later expired in a", died("a", "rejected", "a", "expired"), "a", true},
		{"expired in a, later rejected in b", died("a", "expired", "b", "rejected"), "a", false},
		{"expired in a, rejected in b, expired in c", died("a", "expired", "b", "rejected", "c", "expired"), "a", false},
		{"delivery limit counts", died("a", "delivery_limit"), "a", true},
	} {
		if got := c.died.Cycle(c.target); got != c.cycle {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// LavinMQ detects a cycle only if the reasons are equal, too; Candlemark compares only queues, as RabbitMQ does.
func TestDL28_ReasonsDoNotCount(t *testing.T) {
	for _, c := range []struct {
		died   *message.Overlay
		target string
	}{
		{died("a", "maxlen", "b", "expired"), "a"},
		{died("a", "delivery_limit", "b", "maxlen"), "a"},
		{died("a", "rejected", "a", "maxlen", "b", "expired"), "a"},
	} {
		if !c.died.Cycle(c.target) {
			t.Errorf("%v: delivered to %s", c.died.Deaths, c.target)
		}
	}
}
