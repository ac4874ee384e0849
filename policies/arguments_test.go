package policies

import (
	"testing"

	"candlemark/protocol"
)

func text(err *protocol.ChannelError) string {
	if err == nil {
		return ""
	}
	return err.Text
}

func TestValidateQueueArguments(t *testing.T) {
	invalid := func(key, term string) string {
		return "PRECONDITION_FAILED - invalid arg '" + key + "' for queue 'q' in vhost '/': " + term
	}
	foreign := func(key, module string) string {
		return "PRECONDITION_FAILED - invalid arg '" + key + "' for queue 'q' in vhost '/' of queue type " + module
	}
	const classic, quorum = "rabbit_classic_queue", "rabbit_quorum_queue"
	tests := []struct {
		name string
		args protocol.Table
		want string
	}{
		{"TTL-1 byte", table("x-message-ttl", int8(1)), ""},
		{"TTL-1 unsignedint", table("x-message-ttl", uint32(1)), ""},
		{"TTL-1 long", table("x-message-ttl", int64(315360000000)), ""},
		{"TTL-3 longstr", table("x-message-ttl", "1"), invalid("x-message-ttl", `"expected integer, got longstr"`)},
		{"TTL-3 timestamp", table("x-message-ttl", protocol.Timestamp(1)), invalid("x-message-ttl", `"expected integer, got timestamp"`)},
		{"TTL-3 double", table("x-message-ttl", 1.0), invalid("x-message-ttl", `"expected integer, got double"`)},
		{"TTL-3 decimal", table("x-message-ttl", protocol.Decimal{}), invalid("x-message-ttl", `"expected integer, got decimal"`)},
		{"TTL-3 bool", table("x-message-ttl", true), invalid("x-message-ttl", `"expected integer, got bool"`)},
		{"TTL-3 void", table("x-message-ttl", nil), invalid("x-message-ttl", `"expected integer, got void"`)},
		{"TTL-3 table", table("x-message-ttl", protocol.Table{}), invalid("x-message-ttl", `"expected integer, got table"`)},
		{"TTL-3 negative", table("x-message-ttl", int32(-1)), invalid("x-message-ttl", "{value_negative,-1}")},
		{"TTL-3 too large", table("x-message-ttl", int64(315360000001)), invalid("x-message-ttl", "{value_too_large,315360000001}")},
		{"TTL-4 expires before ttl", table("x-message-ttl", "a", "x-expires", "b"), invalid("x-expires", `"expected integer, got longstr"`)},
		{"TTL-4 type before expires", table("x-expires", "b", "x-queue-type", "foo"), invalid("x-queue-type", `"unsupported queue type 'foo'"`)},
		{"TTL-4 values before other types", table("x-delivery-limit", int32(1), "x-expires", int32(0)), invalid("x-expires", "{value_zero,0}")},
		{"LEASE-1 zero", table("x-expires", int8(0)), invalid("x-expires", "{value_zero,0}")},
		{"LEASE-1 negative", table("x-expires", int8(-1)), invalid("x-expires", "{value_negative,-1}")},
		{"LEASE-1 too large", table("x-expires", int64(315360000001)), invalid("x-expires", "{value_too_large,315360000001}")},
		{"DL-1 empty", table("x-dead-letter-exchange", ""), ""},
		{
			"DL-2 before everything", table("x-queue-type", "foo", "x-dead-letter-exchange", int32(1)),
			"PRECONDITION_FAILED - invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'",
		},
		{"DL-4 key without exchange", table("x-dead-letter-routing-key", "k"), invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined")},
		{"DL-4 key with exchange", table("x-dead-letter-routing-key", "k", "x-dead-letter-exchange", "x"), ""},
		{"DL-4 type", table("x-dead-letter-routing-key", int32(1)), invalid("x-dead-letter-routing-key", "{unacceptable_type,signedint}")},
		{"DL-5 classic", table("x-dead-letter-strategy", "at-most-once"), foreign("x-dead-letter-strategy", classic)},
		{"DL-5 quorum", table("x-queue-type", "quorum", "x-dead-letter-strategy", "never"), invalid("x-dead-letter-strategy", "invalid_dlx_strategy")},
		{"DL-6 value", table("x-overflow", "drop"), invalid("x-overflow", "invalid_overflow")},
		{"DL-6 type", table("x-overflow", int32(1)), invalid("x-overflow", "{unacceptable_type,signedint}")},
		{"DL-6 dlx", table("x-overflow", "reject-publish-dlx"), ""},
		{"DEC-7 delivery limit", table("x-delivery-limit", int32(1)), foreign("x-delivery-limit", classic)},
		{"DEC-7 stream", table("x-max-age", "7D"), foreign("x-max-age", classic)},
		{"DEC-7 priority on quorum", table("x-queue-type", "quorum", "x-max-priority", int32(1)), foreign("x-max-priority", quorum)},
		{"DEC-7 first in the table", table("x-max-age", "1s", "x-delivery-limit", int32(1)), foreign("x-max-age", classic)},
		{"DEC-7 consumer timeout as up to 4.2", table("x-consumer-timeout", int32(1)), ""},
		{"DEC-2 unknown", table("x-foo", protocol.Array{}), ""},
		{"DEC-11 max-length", table("x-max-length", int32(-1)), invalid("x-max-length", "{value_negative,-1}")},
		{"DEC-11 max-length-bytes", table("x-max-length-bytes", "1"), invalid("x-max-length-bytes", `"expected integer, got longstr"`)},
		{"DEC-11 priority", table("x-max-priority", int32(256)), invalid("x-max-priority", "{max_value_exceeded,256}")},
		{"DEC-11 priority negative", table("x-max-priority", int32(-1)), invalid("x-max-priority", "{value_negative,-1}")},
		{"DEC-11 priority 255", table("x-max-priority", uint8(255)), ""},
		{"DEC-11 single active consumer", table("x-single-active-consumer", "true"), invalid("x-single-active-consumer", "{unacceptable_type,longstr}")},
		{"DEC-11 queue type", table("x-queue-type", int32(1)), invalid("x-queue-type", "{unacceptable_type,signedint}")},
		{"DEC-11 queue type empty", table("x-queue-type", ""), ""},
		{"DEC-11 queue type undefined", table("x-queue-type", "undefined"), ""},
		{"DEC-11 stream refused", table("x-queue-type", "stream"), invalid("x-queue-type", `"unsupported queue type 'stream'"`)},
		{"DEC-11 version", table("x-queue-version", int32(3)), invalid("x-queue-version", `"unsupported queue version '3'"`)},
		{"DEC-11 version 1", table("x-queue-version", int32(1)), ""},
		{"DEC-11 mode", table("x-queue-mode", int32(1)), ""},
		{"DEC-11 locator", table("x-queue-leader-locator", "x"), invalid("x-queue-leader-locator", "invalid_queue_locator_arg")},
		{"DEC-11 locator type", table("x-queue-leader-locator", true), invalid("x-queue-leader-locator", "{unacceptable_type,bool}")},
		{"DEC-11 consumer timeout", table("x-consumer-timeout", int32(-1)), invalid("x-consumer-timeout", "{value_negative,-1}")},
		{"DEC-11 group size", table("x-queue-type", "quorum", "x-quorum-initial-group-size", int32(0)), invalid("x-quorum-initial-group-size", "{value_zero,0}")},
		{"TTL-30 expiry order", table("x-expiry-order", "late"), invalid("x-expiry-order", "invalid_expiry_order")},
		{"LEASE-13 expires-if-empty", table("x-expires-if-empty", "yes"), invalid("x-expires-if-empty", "{unacceptable_type,longstr}")},
		{"DL-20 dead-letter-count", table("x-dead-letter-count", int32(1)), invalid("x-dead-letter-count", "{unacceptable_type,signedint}")},
		{"DL-23 dead-letter-continue", table("x-dead-letter-continue", "yes"), invalid("x-dead-letter-continue", "{unacceptable_type,longstr}")},
		{"TTL-11 stamp-expiry", table("x-stamp-expiry", "yes"), invalid("x-stamp-expiry", "{unacceptable_type,longstr}")},
		{"TTL-5 expires-at-header", table("x-expires-at-header", ""), invalid("x-expires-at-header", "invalid_header_name")},
		{"DL-9 dead-letter-expired", table("x-dead-letter-expired", int32(0)), invalid("x-dead-letter-expired", "{unacceptable_type,signedint}")},
		{"SBR-7 dead-letter-failed-rules", table("x-dead-letter-failed-rules", int32(0)), invalid("x-dead-letter-failed-rules", "{unacceptable_type,signedint}")},
		{"DL-1 dead-letter-queue", table("x-dead-letter-queue", "yes"), invalid("x-dead-letter-queue", "{unacceptable_type,longstr}")},
		{"forward-to", table("x-forward-to", true), invalid("x-forward-to", "{unacceptable_type,bool}")},
		{"LEASE-4 expires-renewed-by", table("x-expires-renewed-by", "publish,acks"), invalid("x-expires-renewed-by", "invalid_expires_renewed_by")},
		{"LEASE-4 expires-renewed-by type", table("x-expires-renewed-by", true), invalid("x-expires-renewed-by", "{unacceptable_type,bool}")},
		{
			"entity settings", table("x-stamp-expiry", true, "x-expires-at-header", "expires", "x-dead-letter-expired", false, "x-dead-letter-queue", true,
				"x-forward-to", "", "x-expires-renewed-by", " publish, scheduled "), "",
		},
		{"DLY-8 delayed-messages", table("x-delayed-messages", "yes"), invalid("x-delayed-messages", "{unacceptable_type,longstr}")},
		{"DLY-8 deliver-at-header", table("x-deliver-at-header", ""), invalid("x-deliver-at-header", "invalid_header_name")},
		{"DLY-8 deliver-at-header type", table("x-deliver-at-header", int32(1)), invalid("x-deliver-at-header", "{unacceptable_type,signedint}")},
		{"DLY-13 overdue-messages", table("x-overdue-messages", "keep"), invalid("x-overdue-messages", "invalid_overdue_messages")},
		{"DLY-13 release-rate", table("x-release-rate", int32(0)), invalid("x-release-rate", "{value_zero,0}")},
		{
			"DLY-8 all", table("x-delayed-messages", true, "x-deliver-at-header", "eta", "x-overdue-messages", "dead-letter", "x-release-rate", int64(1)), "",
		},
		{"RETRY-6 LavinMQ's", table("x-delayed-retry-min", int32(500), "x-delayed-retry-max", int32(9000), "x-delayed-retry-multiplier", int32(2), "x-delivery-limit", int32(5)), ""},
		{"RETRY-6 multiplier", table("x-delayed-retry-multiplier", int32(0), "x-delayed-retry-min", int32(5)), invalid("x-delayed-retry-multiplier", "{value_zero,0}")},
		{"RETRY-6 multiplier alone", table("x-delayed-retry-multiplier", int32(2)), invalid("x-delayed-retry-multiplier", `"it requires x-delayed-retry-min"`)},
		{"RETRY-6 ladder type", table("x-delayed-retry-ladder", int32(5)), invalid("x-delayed-retry-ladder", "{unacceptable_type,signedint}")},
		{
			"RETRY-6 ladder", table("x-delayed-retry-ladder", "1s,soon"),
			invalid("x-delayed-retry-ladder", `"'soon' is not a delay such as 500ms, 10s, 1m, 2h, 1d or 1w, up to 10 years"`),
		},
		{
			"RETRY-6 ladder and minimum", table("x-delayed-retry-ladder", "1s", "x-delayed-retry-min", int32(5)),
			invalid("x-delayed-retry-ladder", `"a ladder has all delays: it goes without x-delayed-retry-min"`),
		},
		{"RETRY-7 jitter", table("x-delayed-retry-ladder", "1s", "x-delayed-retry-jitter", int32(101)), invalid("x-delayed-retry-jitter", "{value_too_large,101}")},
		{
			"RETRY-7 jitter alone", table("x-delayed-retry-jitter", int32(10)),
			invalid("x-delayed-retry-jitter", `"it requires x-delayed-retry-min or x-delayed-retry-ladder"`),
		},
		{"RETRY-6 all", table("x-delayed-retry-ladder", "1s,10s,1m", "x-delayed-retry-jitter", int32(10), "x-delayed-retry-type", "failed", "x-delivery-limit", int32(3)), ""},
		{"DEC-11 quorum", table("x-queue-type", "quorum", "x-delivery-limit", int32(3), "x-message-ttl", int32(1)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := ValidateQueueArguments("q", "/", test.args)
			if text(err) != test.want {
				t.Errorf("%s\nwant %s", text(err), test.want)
			}
			if err != nil && err.Code != protocol.PreconditionFailed {
				t.Errorf("code %d", err.Code)
			}
		})
	}
}

func TestValidateExchangeArguments(t *testing.T) {
	const want = "PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange' in exchange 'x' in vhost '/'"
	if got := text(ValidateExchangeArguments("x", "/", table("alternate-exchange", int32(1)))); got != want {
		t.Errorf("DEC-14 %s", got)
	}
	if err := ValidateExchangeArguments("x", "/", table("alternate-exchange", "ae", "x-y", int32(1))); err != nil {
		t.Errorf("DEC-14 %v", err)
	}
}

func TestDeclarationOfQuorumQueues(t *testing.T) {
	quorum := table("x-queue-type", "quorum")
	tests := []struct {
		name string
		d    QueueDeclaration
		want string
	}{
		{"durable", QueueDeclaration{Durable: true, Arguments: quorum}, ""},
		{"transient", QueueDeclaration{Arguments: quorum}, "PRECONDITION_FAILED - invalid property 'non-durable' for queue 'q' in vhost '/'"},
		{
			"exclusive",
			QueueDeclaration{Durable: true, Exclusive: true, Arguments: quorum},
			"PRECONDITION_FAILED - invalid property 'exclusive-owner' for queue 'q' in vhost '/'",
		},
		{
			"auto-delete",
			QueueDeclaration{Durable: true, AutoDelete: true, Arguments: quorum},
			"PRECONDITION_FAILED - invalid property 'auto-delete' for queue 'q' in vhost '/'",
		},
		{"DEC-13 transient classic", QueueDeclaration{}, ""},
	}
	for _, test := range tests {
		if got := text(ValidateQueueProperties("q", "/", test.d)); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	const want = "PRECONDITION_FAILED - Cannot declare a server-named queue for type rabbit_quorum_queue"
	if text(ValidateServerNamed(quorum)) != want || ValidateServerNamed(nil) != nil {
		t.Error(text(ValidateServerNamed(quorum)))
	}
}

func TestWithQueueType(t *testing.T) {
	tests := []struct {
		name                           string
		args                           protocol.Table
		durable, exclusive, autoDelete bool
		vhost, want                    string
	}{
		{"DEC-12 default", nil, true, false, false, "", "classic"},
		{"DEC-12 vhost", nil, true, false, false, "quorum", "quorum"},
		{"DEC-12 vhost does not suit transient", nil, false, false, false, "quorum", "classic"},
		{"DEC-12 vhost does not suit exclusive", nil, true, true, false, "quorum", "classic"},
		{"DEC-12 vhost does not suit auto-delete", nil, true, false, true, "quorum", "classic"},
		{"DEC-12 given", table("x-queue-type", "quorum"), false, false, false, "", "quorum"},
	}
	for _, test := range tests {
		got := WithQueueType(test.args, test.durable, test.exclusive, test.autoDelete, test.vhost)
		if v, _ := got.Get("x-queue-type"); v != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
