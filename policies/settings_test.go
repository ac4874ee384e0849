package policies

import (
	"testing"

	"candlemark/policies/retry"
	"candlemark/protocol"
)

func table(pairs ...any) protocol.Table {
	var t protocol.Table
	for i := 0; i < len(pairs); i += 2 {
		t = append(t, protocol.Field{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return t
}

// none has the settings of a queue without arguments and policies.
var none = QueueSettings{
	MessageTTL: -1, Expires: -1, MaxLength: -1, MaxLengthBytes: -1, ConsumerTimeout: -1,
	DeliveryLimit: -1, Overflow: "drop-head", OverdueMessages: "deliver", ReleaseRate: -1,
}

func TestSettingsFor(t *testing.T) {
	quorum := []any{"x-queue-type", "quorum"}
	tests := []struct {
		name   string
		args   protocol.Table
		policy string
		change func(*QueueSettings)
	}{
		{"POL-8 nothing", nil, "", func(*QueueSettings) {}},
		{"TTL-9 lower of both: argument", table("x-message-ttl", int32(5)), `{"message-ttl":6}`, func(q *QueueSettings) { q.MessageTTL = 5 }},
		{"TTL-9 lower of both: policy", table("x-message-ttl", int64(5)), `{"message-ttl":0}`, func(q *QueueSettings) { q.MessageTTL = 0 }},
		{"TTL-9 argument alone", table("x-message-ttl", uint8(0)), "", func(q *QueueSettings) { q.MessageTTL = 0 }},
		{"TTL-8 no upper bound", nil, `{"message-ttl":99999999999999999999}`, func(q *QueueSettings) { q.MessageTTL = 1 << 53 }},
		{"LEASE-2 lower of both", table("x-expires", int16(900)), `{"expires":800}`, func(q *QueueSettings) { q.Expires = 800 }},
		{
			"POL-8 max-length", table("x-max-length", int8(3), "x-max-length-bytes", int32(9)), `{"max-length":0,"max-length-bytes":10}`,
			func(q *QueueSettings) { q.MaxLength, q.MaxLengthBytes = 0, 9 },
		},
		{"POL-8 consumer-timeout of 0", table("x-consumer-timeout", int32(0)), `{"consumer-timeout":8}`, func(q *QueueSettings) { q.ConsumerTimeout = 8 }},
		{"POL-8 consumer-timeout of 0 in the policy", nil, `{"consumer-timeout":0}`, func(*QueueSettings) {}},
		{"POL-8 consumer-timeout", table("x-consumer-timeout", int32(9)), `{"consumer-timeout":8}`, func(q *QueueSettings) { q.ConsumerTimeout = 9 }},
		{
			"DL-7 argument wins", table("x-dead-letter-exchange", "arg", "x-dead-letter-routing-key", "k", "x-overflow", "drop-head"),
			`{"dead-letter-exchange":"pol","dead-letter-routing-key":"p","overflow":"reject-publish"}`, func(q *QueueSettings) {
				q.DeadLetterExchange, q.HasDLX, q.DeadLetterRoutingKey, q.HasDLK = "arg", true, "k", true
			},
		},
		{
			"DL-7 policy alone", nil, `{"dead-letter-exchange":"","overflow":"reject-publish-dlx"}`,
			func(q *QueueSettings) { q.HasDLX, q.Overflow = true, "reject-publish-dlx" },
		},
		{
			"DL-8 exchange from argument, key from policy", table("x-dead-letter-exchange", "arg"), `{"dead-letter-routing-key":"p"}`,
			func(q *QueueSettings) {
				q.DeadLetterExchange, q.HasDLX, q.DeadLetterRoutingKey, q.HasDLK = "arg", true, "p", true
			},
		},
		{
			"DEC-11 priority and single active consumer", table("x-max-priority", int32(255), "x-single-active-consumer", true), "",
			func(q *QueueSettings) { q.MaxPriority, q.SingleActiveConsumer = 255, true },
		},
		{
			"TTL-30 own keys", nil, `{"expiry-order":"strict","message-ttl-retroactive":true,"expires-if-empty":true,"expires-dead-letters-backlog":true,"dead-letter-count":true,"dead-letter-continue":true}`,
			func(q *QueueSettings) {
				q.StrictExpiry, q.RetroactiveTTL, q.ExpiresIfEmpty, q.ExpiresDeadLettersBacklog = true, true, true, true
				q.DeathCount, q.DeathContinue = true, true
			},
		},
		{
			"TTL-30 own arguments win", table("x-expiry-order", "eager", "x-message-ttl-retroactive", false),
			`{"expiry-order":"strict","message-ttl-retroactive":true}`, func(*QueueSettings) {},
		},
		{
			"POL-8 entity settings by policy", nil,
			`{"stamp-expiry":true,"expires-at-header":"expires","dead-letter-expired":false,"dead-letter-queue":true,"forward-to":"",` +
				`"expires-renewed-by":"publish, peek,update,scheduled"}`, func(q *QueueSettings) {
				q.EntitySettings = EntitySettings{StampExpiry: true, ExpiresAtHeader: "expires", DropExpired: true, DeadLetterQueue: true, HasForward: true, RenewedBy: 15}
			},
		},
		{
			"SBR-7 failed rules", table("x-dead-letter-failed-rules", true), `{"dead-letter-failed-rules":false}`,
			func(q *QueueSettings) { q.DeadLetterFailedRules = true },
		},
		{
			"POL-8 entity settings, arguments win",
			table("x-stamp-expiry", false, "x-expires-at-header", "at", "x-dead-letter-expired", true, "x-dead-letter-queue", false, "x-forward-to", "x",
				"x-expires-renewed-by", "update"),
			`{"stamp-expiry":true,"expires-at-header":"expires","dead-letter-expired":false,"dead-letter-queue":true,"forward-to":"y","expires-renewed-by":""}`,
			func(q *QueueSettings) {
				q.EntitySettings = EntitySettings{ExpiresAtHeader: "at", ForwardTo: "x", HasForward: true, RenewedBy: RenewedByUpdate}
			},
		},
		{
			"DLY-8 scheduled messages", table("x-delayed-messages", true, "x-release-rate", int32(9)),
			`{"deliver-at-header":"eta","overdue-messages":"drop","release-rate":10}`, func(q *QueueSettings) {
				q.DelayedMessages, q.DeliverAtHeader, q.OverdueMessages, q.ReleaseRate = true, "eta", "drop", 9
			},
		},
		{
			"DLY-8 scheduled messages, arguments win", table("x-delayed-messages", false, "x-deliver-at-header", "at", "x-overdue-messages", "dead-letter"),
			`{"delayed-messages":true,"deliver-at-header":"eta","overdue-messages":"drop"}`, func(q *QueueSettings) {
				q.DeliverAtHeader, q.OverdueMessages = "at", "dead-letter"
			},
		},
		{
			"RETRY-1 the lower delays", table(append(quorum, "x-delayed-retry-type", "all", "x-delayed-retry-min", int32(7), "x-delayed-retry-max", int32(9))...),
			`{"delayed-retry-min":6,"delayed-retry-max":10}`, func(q *QueueSettings) {
				q.DeliveryLimit, q.Retry = 20, retry.Settings{Failed: true, Returned: true, Min: 6, Max: 9}
			},
		},
		{
			"RETRY-1 the policy's type, no max", table(append(quorum, "x-delayed-retry-type", "all")...),
			`{"delayed-retry-min":6,"delayed-retry-type":"failed"}`, func(q *QueueSettings) { q.DeliveryLimit, q.Retry = 20, retry.Settings{Failed: true, Min: 6, Max: 6} },
		},
		{"PAUSE-3 a date, rounded up", nil, `{"paused-until":"2027-01-15T08:00:00.0001Z"}`, func(q *QueueSettings) { q.PausedUntil = 1_800_000_000_001 }},
		{"PAUSE-3 ms", nil, `{"paused-until":7}`, func(q *QueueSettings) { q.PausedUntil = 7 }},
		{"PAUSE-3 forever", nil, `{"paused-until":"forever"}`, func(q *QueueSettings) { q.PausedUntil = Forever }},
		{
			"RETRY-1 classic", nil,
			`{"delayed-retry-min":6,"delayed-retry-type":"failed","delivery-limit":5}`, func(q *QueueSettings) { q.DeliveryLimit, q.Retry = 5, retry.Settings{Failed: true, Min: 6, Max: 6} },
		},
		{
			"RETRY-6 classic, as in LavinMQ", table("x-delayed-retry-min", int32(500), "x-delayed-retry-multiplier", int32(2), "x-delivery-limit", int32(5)), "", func(q *QueueSettings) {
				q.DeliveryLimit, q.Retry = 5, retry.Settings{Failed: true, Returned: true, Min: 500, Max: 315_360_000_000, Multiplier: 2}
			},
		},
		{
			"RETRY-6 classic without a limit", table("x-delayed-retry-min", int32(7)), "",
			func(q *QueueSettings) { q.Retry = retry.Settings{Failed: true, Returned: true, Min: 7, Max: 7} },
		},
		{
			"RETRY-6 the argument's ladder over the policy's minimum", table("x-delayed-retry-ladder", "1s,1m"), `{"delayed-retry-min":6,"delayed-retry-jitter":10}`,
			func(q *QueueSettings) {
				q.Retry = retry.Settings{Failed: true, Returned: true, Ladder: "1000,60000", Jitter: 10}
			},
		},
		{
			"RETRY-1 disabled", table(append(quorum, "x-delayed-retry-type", "returned", "x-delayed-retry-min", int32(7))...),
			`{"delayed-retry-type":"disabled"}`, func(q *QueueSettings) { q.DeliveryLimit = 20 },
		},
		{
			"RETRY-1 no min", table(append(quorum, "x-delayed-retry-type", "returned", "x-delayed-retry-max", int32(7))...),
			"", func(q *QueueSettings) { q.DeliveryLimit = 20 },
		},
		{"DL-9 delivery limit of quorum queues", table(quorum...), "", func(q *QueueSettings) { q.DeliveryLimit = 20 }},
		{"DL-9 delivery limit of classic queues", table("x-delivery-limit", int32(3)), "", func(*QueueSettings) {}},
		{
			"POL-7 delivery limit lower", table(append(quorum, "x-delivery-limit", int32(9))...), `{"delivery-limit":4}`,
			func(q *QueueSettings) { q.DeliveryLimit = 4 },
		},
		{
			"POL-7 delivery limit unlimited by one", table(append(quorum, "x-delivery-limit", int32(-1))...), `{"delivery-limit":4}`,
			func(q *QueueSettings) { q.DeliveryLimit = 4 },
		},
		{
			"POL-7 delivery limit unlimited", table(append(quorum, "x-delivery-limit", int32(-7))...), "",
			func(q *QueueSettings) { q.DeliveryLimit = -1 },
		},
		{
			"DL-7 on quorum queues the policy decides about overflow", table(append(quorum, "x-overflow", "drop-head")...),
			`{"overflow":"reject-publish"}`, func(q *QueueSettings) { q.Overflow, q.DeliveryLimit = "reject-publish", 20 },
		},
		{
			"DL-6 quorum queues do not honour reject-publish-dlx", table(append(quorum, "x-overflow", "reject-publish-dlx")...), "",
			func(q *QueueSettings) { q.DeliveryLimit = 20 },
		},
		{
			"DL-30 at least once", table(append(quorum, "x-dead-letter-strategy", "at-least-once", "x-overflow", "reject-publish")...),
			`{"dead-letter-exchange":"d"}`, func(q *QueueSettings) {
				q.DeadLetterExchange, q.HasDLX, q.DeadLetterAtLeastOnce, q.Overflow, q.DeliveryLimit = "d", true, true, "reject-publish", 20
			},
		},
		{
			"DL-30 at least once falls back with drop-head", table(append(quorum, "x-dead-letter-strategy", "at-least-once")...),
			`{"dead-letter-exchange":"d"}`, func(q *QueueSettings) { q.DeadLetterExchange, q.HasDLX, q.DeliveryLimit = "d", true, 20 },
		},
		{
			"DL-30 at least once falls back without an exchange",
			table(append(quorum, "x-dead-letter-strategy", "at-least-once", "x-overflow", "reject-publish")...),
			"", func(q *QueueSettings) { q.Overflow, q.DeliveryLimit = "reject-publish", 20 },
		},
		{"POL-10 a policy removed leaves the arguments", table("x-message-ttl", int32(7)), "", func(q *QueueSettings) { q.MessageTTL = 7 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := NewSet("/")
			if test.policy != "" {
				s = s.With(parsed(t, "p", "", test.policy))
			}
			want := none
			if test.change(&want); KindOf(test.args) == KindQuorumQueue {
				want.MaxPriority, want.NormalPriority = 31, 4
			}
			if got := SettingsFor(test.args, s.Effective(KindOf(test.args), "q")); got != want {
				t.Errorf("%+v\nwant %+v", got, want)
			}
		})
	}
}

func TestSettingsOfThreeSources(t *testing.T) {
	s := setOf(parsed(t, "p", "", `{"expires":800,"message-ttl":5}`), operator(t, "o", "", `{"expires":700,"message-ttl":6}`))
	got := SettingsFor(table("x-expires", int32(750), "x-message-ttl", int32(4)), s.Effective(KindClassicQueue, "q"))
	if got.Expires != 700 || got.MessageTTL != 4 {
		t.Errorf("LEASE-2 %+v", got)
	}
}

// TestHolderSettings_DLY13: a holder has the exchange's settings about releasing messages, and no others.
func TestHolderSettings_DLY13(t *testing.T) {
	e := setOf(parsed(t, "p", "", `{"overdue-messages":"drop","release-rate":5,"message-ttl":1}`)).Effective(KindExchange, "x")
	want := none
	want.OverdueMessages, want.ReleaseRate = "drop", 5
	if got := HolderSettingsFor(nil, e); got != want {
		t.Errorf("by policy: %+v", got)
	}
	want.OverdueMessages, want.ReleaseRate = "deliver", 3
	if got := HolderSettingsFor(table("x-overdue-messages", "deliver", "x-release-rate", int32(3), "x-message-ttl", int32(1)), e); got != want {
		t.Errorf("by argument: %+v", got)
	}
	e = setOf(parsed(t, "p", "", `{"overdue-messages":"dead-letter"}`)).Effective(KindExchange, "x")
	if got := HolderSettingsFor(nil, e).OverdueMessages; got != "deliver" {
		t.Errorf("dead-letter counts as %s", got)
	}
}

func TestExchangeSettings(t *testing.T) {
	e := setOf(parsed(t, "p", "", `{"alternate-exchange":"pol"}`)).Effective(KindExchange, "x")
	tests := []struct {
		name string
		args protocol.Table
		e    Effective
		want ExchangeSettings
	}{
		{"POL-8 argument wins", table("alternate-exchange", "arg"), e, ExchangeSettings{AlternateExchange: "arg", HasAE: true}},
		{"POL-8 policy", nil, e, ExchangeSettings{AlternateExchange: "pol", HasAE: true}},
		{"POL-8 none", nil, Effective{}, ExchangeSettings{}},
	}
	for _, test := range tests {
		if got := ExchangeSettingsFor(test.args, test.e); got != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// TestExchangeTTL_TTL9: a message-ttl applies to an exchange only if the policy applies to exchanges only.
func TestExchangeTTL_TTL9(t *testing.T) {
	item := func(name, to, definition string) *Policy {
		p, err := Parse("/", name, name == "operator", []byte(`{"pattern":"","apply-to":"`+to+`","definition":`+definition+`}`))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tt := range []struct {
		name string
		set  []*Policy
		want ExchangeSettings
	}{
		{"exchanges", []*Policy{item("p", "exchanges", `{"message-ttl":5}`)}, ExchangeSettings{MaxTTL: 5, HasMaxTTL: true}},
		{"0 is a TTL", []*Policy{item("p", "exchanges", `{"message-ttl":0}`)}, ExchangeSettings{HasMaxTTL: true}},
		{"no upper bound", []*Policy{item("p", "exchanges", `{"message-ttl":99999999999999999999}`)}, ExchangeSettings{MaxTTL: forever, HasMaxTTL: true}},
		{"all means queues", []*Policy{item("p", "all", `{"message-ttl":5}`)}, ExchangeSettings{}},
		{"queues", []*Policy{item("p", "queues", `{"message-ttl":5}`)}, ExchangeSettings{}},
		{"both sorts, the lower", []*Policy{item("p", "exchanges", `{"message-ttl":5}`), item("operator", "exchanges", `{"message-ttl":4}`)}, ExchangeSettings{MaxTTL: 4, HasMaxTTL: true}},
		{"operator only", []*Policy{item("p", "all", `{"message-ttl":5}`), item("operator", "exchanges", `{"message-ttl":9}`)}, ExchangeSettings{MaxTTL: 9, HasMaxTTL: true}},
	} {
		if got := ExchangeSettingsFor(nil, setOf(tt.set...).Effective(KindExchange, "x")); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
