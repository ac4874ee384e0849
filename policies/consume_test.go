package policies

import (
	"testing"

	"candlemark/protocol"
)

func TestValidateConsumerArguments(t *testing.T) {
	invalid := func(key, term string) string {
		return "PRECONDITION_FAILED - invalid arg '" + key + "' for queue 'q' in vhost '/': " + term
	}
	for _, c := range []struct {
		name string
		kind Kind
		args protocol.Table
		want string
	}{
		{"none", KindClassicQueue, nil, ""},
		{"DEC-15 priority byte", KindClassicQueue, table("x-priority", int8(-1)), ""},
		{"DEC-15 priority unsignedbyte", KindClassicQueue, table("x-priority", uint8(1)), ""},
		{"DEC-15 priority short", KindClassicQueue, table("x-priority", int16(1)), ""},
		{"DEC-15 priority unsignedshort", KindClassicQueue, table("x-priority", uint16(1)), ""},
		{"DEC-15 priority signedint", KindQuorumQueue, table("x-priority", int32(-5)), ""},
		{"DEC-15 priority unsignedint", KindQuorumQueue, table("x-priority", uint32(1)), ""},
		{"DEC-15 priority long", KindQuorumQueue, table("x-priority", int64(-1<<63)), ""},
		{"DEC-15 priority longstr", KindClassicQueue, table("x-priority", "1"), invalid("x-priority", `"expected integer, got longstr"`)},
		{"DEC-15 priority void", KindClassicQueue, table("x-priority", nil), invalid("x-priority", `"expected integer, got void"`)},
		{"DEC-15 priority table", KindQuorumQueue, table("x-priority", protocol.Table{}), invalid("x-priority", `"expected integer, got table"`)},
		{"DEC-15 priority array", KindQuorumQueue, table("x-priority", protocol.Array{}), invalid("x-priority", `"expected integer, got array"`)},
		{"DEC-15 priority double", KindClassicQueue, table("x-priority", 1.0), invalid("x-priority", `"expected integer, got double"`)},
		{"DEC-11 timeout", KindClassicQueue, table("x-consumer-timeout", int32(0)), ""},
		{"DEC-11 timeout negative", KindQuorumQueue, table("x-consumer-timeout", int32(-1)), invalid("x-consumer-timeout", "{value_negative,-1}")},
		{"DEC-11 timeout longstr", KindQuorumQueue, table("x-consumer-timeout", "a"), invalid("x-consumer-timeout", `"expected integer, got longstr"`)},
		{
			"DEC-7 stream offset", KindClassicQueue, table("x-stream-offset", "next"),
			"PRECONDITION_FAILED - invalid arg 'x-stream-offset' for queue 'q' in vhost '/' of queue type rabbit_classic_queue",
		},
		{"unknown", KindClassicQueue, table("x-cancel-on-ha-failover", "yes", "x-credit", 1.0), ""},
	} {
		if got := text(ValidateConsumerArguments("q", "/", c.kind, c.args)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestConsumerSettings(t *testing.T) {
	for _, c := range []struct {
		name string
		args protocol.Table
		want ConsumerSettings
	}{
		{"none", nil, ConsumerSettings{0, -1}},
		{"both", table("x-priority", int8(-3), "x-consumer-timeout", uint32(5)), ConsumerSettings{-3, 5}},
		{"0 is no timeout", table("x-consumer-timeout", int64(0)), ConsumerSettings{0, -1}},
		{"a long time", table("x-consumer-timeout", int64(1<<62)), ConsumerSettings{0, 1 << 53}},
		{"wrong types", table("x-priority", "1", "x-consumer-timeout", 1.5), ConsumerSettings{0, -1}},
	} {
		if got := ConsumerSettingsFor(c.args); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}
