package policies

import (
	"encoding/json"
	"testing"

	"candlemark/protocol"
)

// Any body of a policy is refused with a text, or yields a policy that is the same when it is read back from the form
// in which it is listed and stored (POL-13).
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"pattern":"^orders","definition":{"message-ttl":60000,"expires":1.5},"priority":-1,"apply-to":"queues"}`,
		`{"pattern":"(?!a)","definition":{"dead-letter-exchange":"x","dead-letter-routing-key":"k","overflow":"reject-publish"}}`,
		`{"pattern":"","definition":{"max-length":9223372036854775808},"priority":1e400}`,
		`{"pattern":"","definition":{"delayed-messages":true,"nested":[{"a":null},[1,"x"]]},"priority":1.25e-7}`,
		`"{}"`, `[]`, `null`, `{"vhost":"/","name":"p"}`,
	} {
		f.Add(true, []byte(seed))
		f.Add(false, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, operator bool, body []byte) {
		p, err := Parse("/", "p", operator, body)
		if (p == nil) == (err == nil) {
			t.Fatalf("policy %v, error %v", p, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("refused without a word")
			}
			return
		}
		item, err := p.MarshalJSON()
		if err != nil || !json.Valid(item) {
			t.Fatalf("%s: %v", item, err)
		}
		again, err := Restore("/", "p", operator, item)
		if err != nil || !again.Equal(p) {
			t.Fatalf("read back from %s: %v %v", item, again, err)
		}
		settingsOfEverything(nil, NewSet("/").With(p).Effective(KindClassicQueue, "orders"))
	})
}

// Any arguments of a declaration are refused with a text, or yield settings.
func FuzzArguments(f *testing.F) {
	for _, seed := range []protocol.Table{
		{{Key: "x-message-ttl", Value: int32(1)}, {Key: "x-expires", Value: int64(1 << 40)}, {Key: "x-max-priority", Value: uint8(10)}},
		{{Key: "x-queue-type", Value: "quorum"}, {Key: "x-delivery-limit", Value: int16(-1)}},
		{{Key: "x-dead-letter-exchange", Value: ""}, {Key: "x-overflow", Value: "reject-publish-dlx"}, {Key: "x-max-length", Value: 1.5}},
		{{Key: "x-delayed-type", Value: "topic"}, {Key: "alternate-exchange", Value: "a"}, {Key: "x-consumer-timeout", Value: int64(-1)}},
		{{Key: "x-priority", Value: int32(-5)}, {Key: "x-forward-to", Value: "f"}, {Key: "x-dead-letter-queue", Value: true}},
	} {
		encoded, err := protocol.AppendTable(nil, seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		args, err := protocol.DecodeTable(encoded)
		if err != nil {
			return
		}
		refusals := []*protocol.ChannelError{
			ValidateQueueArguments("q", "/", args), ValidateExchangeArguments("x", "/", args),
			ValidateConsumerArguments("q", "/", KindOf(args), args), ValidateServerNamed(args),
			Equivalent("q", "/", QueueDeclaration{Arguments: args}, QueueDeclaration{Arguments: args}),
		}
		for _, err := range refusals {
			if err != nil && (err.Code == 0 || err.Error() == "") {
				t.Errorf("refused with code %d, %q", err.Code, err)
			}
		}
		if refusals[0] == nil {
			settingsOfEverything(args, Effective{})
		}
	})
}

func settingsOfEverything(args protocol.Table, e Effective) {
	SettingsFor(args, e)
	HolderSettingsFor(args, e)
	ExchangeSettingsFor(args, e)
	ConsumerSettingsFor(args)
}
