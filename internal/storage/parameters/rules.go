package parameters

import (
	"encoding/json"
	"fmt"
)

// The ways in which a shovel, or a link of federation, acknowledges.
const (
	OnConfirm = "on-confirm" // when the destination has confirmed: nothing is lost
	OnPublish = "on-publish" // when it was published
	NoAck     = "no-ack"     // when it has come
)

var ackModes = oneOf(NoAck, OnPublish, OnConfirm)

// protocols that a shovel may speak, as its keys name them.
const (
	amqp091 = "amqp091"
	amqp10  = "amqp10"
)

// shared are the keys of upstreams that sets may override.
var shared = []rule{
	{key: "exchange", check: binary},
	{key: "queue", check: binary},
	{key: "consumer-tag", check: binary},
	{key: "prefetch-count", check: number},
	{key: "reconnect-delay", check: number},
	{key: "max-hops", check: number},
	{key: "expires", check: number},
	{key: "message-ttl", check: number},
	{key: "trust-user-id", check: flag},
	{key: "ack-mode", check: ackModes},
	{key: "resource-cleanup-mode", check: oneOf("default", "never")},
	{key: "queue-type", check: oneOf("classic", "quorum")},
	{key: "bind-nowait", check: flag},
	{key: "channel-use-mode", check: oneOf("multiple", "single")},
}

// ofShovels are the keys that say how a shovel works.
var ofShovels = []rule{
	{key: "reconnect-delay", check: number},
	{key: "ack-mode", check: ackModes},
	{key: "src-protocol", check: oneOf(amqp10, amqp091)},
	{key: "dest-protocol", check: oneOf(amqp10, amqp091)},
}

// fromAMQP091 are the keys of a source, besides its address; keys without src- are older names.
var fromAMQP091 = []rule{
	{key: "src-exchange", check: binary},
	{key: "src-exchange-key", check: binary},
	{key: "src-queue", check: binary},
	{key: "src-queue-args", check: object},
	{key: "src-consumer-args", check: object},
	{key: "prefetch-count", check: number},
	{key: "src-prefetch-count", check: number},
	{key: "delete-after", check: deleteAfter},
	{key: "src-delete-after", check: deleteAfter},
	{key: "src-predeclared", check: flag},
}

var fromAMQP10 = []rule{
	{key: "src-address", check: binary, mandatory: true},
	{key: "src-prefetch-count", check: number},
	{key: "src-delete-after", check: deleteAfter},
}

// toAMQP091 are the keys of a destination of AMQP 0-9-1.
var toAMQP091 = []rule{
	{key: "dest-exchange", check: binary},
	{key: "dest-exchange-key", check: binary},
	{key: "dest-queue", check: queueName},
	{key: "dest-queue-args", check: object},
	{key: "add-forward-headers", check: flag},
	{key: "add-timestamp-header", check: flag},
	{key: "dest-add-forward-headers", check: flag},
	{key: "dest-add-timestamp-header", check: flag},
	{key: "publish-properties", check: properties},
	{key: "dest-publish-properties", check: properties},
	{key: "dest-predeclared", check: flag},
}

var toAMQP10 = []rule{
	{key: "dest-address", check: binary, mandatory: true},
	{key: "dest-add-forward-headers", check: flag},
	{key: "dest-add-timestamp-header", check: flag},
	{key: "dest-application-properties", check: object},
	{key: "dest-message-annotations", check: object},
	{key: "dest-properties", check: object},
}

// ofMessages are the properties that a destination may set.
var ofMessages = []rule{
	{key: "content_type", check: binary},
	{key: "content_encoding", check: binary},
	{key: "delivery_mode", check: number},
	{key: "priority", check: number},
	{key: "correlation_id", check: binary},
	{key: "reply_to", check: binary},
	{key: "expiration", check: binary},
	{key: "message_id", check: binary},
	{key: "timestamp", check: number},
	{key: "type", check: binary},
	{key: "user_id", check: binary},
	{key: "app_id", check: binary},
	{key: "cluster_id", check: binary},
}

func properties(key string, value json.RawMessage) string {
	v := validator{name: key}
	if v.object(value, ofMessages); v.complaints != nil {
		return v.complaints[0]
	}
	return ""
}

func deleteAfter(key string, value json.RawMessage) string {
	if _, ok := after(value); !ok {
		return fmt.Sprintf("%s should be a number greater than or equal to 0, \"never\" or \"queue-length\", actually was %s", key, term(key, value))
	}
	return ""
}

// shovel checks the value of a shovel.
func (v *validator) shovel(value json.RawMessage) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(value, &fields) // other values are refused below
	rules := append([]rule{}, ofShovels...)
	if text(fields["src-protocol"]) == amqp10 {
		rules = append(rules, rule{"src-uri", v.uris, true})
		rules = append(rules, fromAMQP10...)
	} else {
		v.source(fields)
		rules = append(rules, rule{"src-uri", v.uris, true})
		rules = append(rules, fromAMQP091...)
	}
	rules = append(rules, rule{"dest-uri", v.uris, true})
	if text(fields["dest-protocol"]) == amqp10 {
		rules = append(rules, toAMQP10...)
	} else {
		if fields["dest-exchange"] != nil && fields["dest-queue"] != nil {
			v.complain("Cannot specify 'dest-exchange' and 'dest-queue'")
		}
		rules = append(rules, toAMQP091...)
	}
	v.object(value, rules)
}

func (v *validator) source(fields map[string]json.RawMessage) {
	exchange, queue := fields["src-exchange"] != nil, fields["src-queue"] != nil
	switch {
	case exchange && queue:
		v.complain("Cannot specify 'src-exchange' and 'src-queue'")
	case !exchange && !queue:
		v.complain("Must specify 'src-exchange' or 'src-queue'")
	}
	end, _ := after(either(fields, "src-delete-after", "delete-after"))
	if end.Count >= 0 && text(fields["ack-mode"]) == NoAck {
		v.complain("Cannot specify 'no-ack' and numerical 'delete-after'")
	}
}

// either returns the value of the first key that there is.
func either(fields map[string]json.RawMessage, keys ...string) json.RawMessage {
	for _, key := range keys {
		if value := fields[key]; value != nil {
			return value
		}
	}
	return nil
}
