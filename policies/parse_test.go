package policies

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const (
	valid  = ""
	notOne = "apply-to 'foo' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'"
)

// parsed parses a policy from its definition and other fields of the body.
func parsed(t *testing.T, name, pattern, definition string, more ...string) *Policy {
	t.Helper()
	p, err := Parse("/", name, false, body(pattern, definition, more...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func operator(t *testing.T, name, pattern, definition string, more ...string) *Policy {
	t.Helper()
	p, err := Parse("/", name, true, body(pattern, definition, more...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func body(pattern, definition string, more ...string) []byte {
	quoted, _ := json.Marshal(pattern)
	fields := append([]string{`"pattern":` + string(quoted), `"definition":` + definition}, more...)
	return []byte("{" + strings.Join(fields, ",") + "}")
}

func TestParseDefinition(t *testing.T) {
	tests := []struct{ name, definition, text string }{
		{"POL-5 message-ttl", `{"message-ttl":0}`, valid},
		{"POL-5 message-ttl negative", `{"message-ttl":-1}`, "-1 is not a valid message TTL"},
		{"TTL-8 message-ttl beyond ten years", `{"message-ttl":999999999999999}`, valid},
		{"TTL-8 message-ttl beyond 64 bits", `{"message-ttl":99999999999999999999999}`, valid},
		{"TTL-8 message-ttl 60000.0", `{"message-ttl":60000.0}`, "6.0e4 is not a valid message TTL"},
		{"TTL-8 message-ttl 1e3", `{"message-ttl":1e3}`, "1.0e3 is not a valid message TTL"},
		{"POL-5 message-ttl string", `{"message-ttl":"abc"}`, `<<"abc">> is not a valid message TTL`},
		{"POL-5 message-ttl empty string", `{"message-ttl":""}`, "<<>> is not a valid message TTL"},
		{"POL-5 message-ttl null", `{"message-ttl":null}`, "null is not a valid message TTL"},
		{"POL-5 message-ttl true", `{"message-ttl":true}`, "true is not a valid message TTL"},
		{"POL-5 message-ttl list", `{"message-ttl":[1,"x",{}]}`, `[1,<<"x">>,#{}] is not a valid message TTL`},
		{"POL-5 message-ttl list of characters", `{"message-ttl":[97,98]}`, `"ab" is not a valid message TTL`},
		{"POL-5 message-ttl empty list", `{"message-ttl":[]}`, "[] is not a valid message TTL"},
		{"POL-5 message-ttl map", `{"message-ttl":{"b":1,"a":[]}}`, `#{<<"a">> => [],<<"b">> => 1} is not a valid message TTL`},
		{"LEASE-1 expires", `{"expires":1}`, valid},
		{"LEASE-1 expires 0", `{"expires":0}`, "0 is not a valid queue expiry"},
		{"LEASE-1 expires above the argument's bound", `{"expires":315360000001}`, valid},
		{"POL-5 expires 1.5", `{"expires":1.5}`, "1.5 is not a valid queue expiry"},
		{"DL-7 dead-letter-exchange", `{"dead-letter-exchange":""}`, valid},
		{"POL-5 dead-letter-exchange", `{"dead-letter-exchange":1}`, "1 is not a valid dead letter exchange name"},
		{"DL-4 dead-letter-routing-key alone", `{"dead-letter-routing-key":"k"}`, valid},
		{"POL-5 dead-letter-routing-key", `{"dead-letter-routing-key":false}`, "false is not a valid dead letter routing key"},
		{"POL-5 dead-letter-strategy", `{"dead-letter-strategy":"x"}`, `<<"x">> is not a valid dead letter strategy`},
		{"POL-5 max-length", `{"max-length":-5}`, "-5 is not a valid maximum length"},
		{"POL-5 max-length-bytes", `{"max-length-bytes":"1"}`, `<<"1">> is not a valid maximum length in bytes`},
		{"POL-5 max-in-memory-length", `{"max-in-memory-length":-1}`, "-1 is not a valid maximum memory in bytes"},
		{"POL-5 overflow", `{"overflow":"reject-publish-dlx"}`, valid},
		{"POL-5 overflow other", `{"overflow":"drop"}`, `<<"drop">> is not a valid overflow value`},
		{"POL-5 delivery-limit", `{"delivery-limit":-1}`, valid},
		{"POL-5 delivery-limit string", `{"delivery-limit":"3"}`, `<<"3">> is not a valid delivery limit`},
		{"POL-5 queue-mode", `{"queue-mode":"fast"}`, `<<"fast">> is not a valid queue-mode value`},
		{"POL-5 queue-version", `{"queue-version":2}`, valid},
		{"POL-5 queue-version 3", `{"queue-version":3}`, "3 is not a valid queue-version value"},
		{"POL-5 consumer-timeout", `{"consumer-timeout":-1}`, "-1 is not a valid consumer timeout"},
		{"POL-5 max-age", `{"max-age":"7D"}`, valid},
		{"POL-5 max-age zero", `{"max-age":"0D"}`, `<<"0D">> is not a valid max age`},
		{"POL-5 max-age unit", `{"max-age":"7d"}`, `<<"7d">> is not a valid max age`},
		{"POL-5 queue-leader-locator", `{"queue-leader-locator":"least-leaders"}`, valid},
		{"POL-5 queue-leader-locator other", `{"queue-leader-locator":"here"}`, `<<"here">> is not a valid queue leader locator value`},
		{"POL-5 alternate-exchange", `{"alternate-exchange":1}`, "1 is not a valid alternate exchange name"},
		{"POL-5 stream-filter-size-bytes", `{"stream-filter-size-bytes":15}`, "15 is not a valid filter size. Valid range is 16-255"},
		{"POL-5 target-group-size", `{"target-group-size":0}`, "0 is not a valid qq target count value"},
		{"POL-5 delayed-retry-type alone", `{"delayed-retry-type":"all"}`, "delayed-retry-min is required when delayed-retry-type is all"},
		{"PAUSE-3", `{"paused-until":"tomorrow"}`, `<<"tomorrow">> is not a valid paused-until value: a date such as 2027-01-01T08:00:00Z, ms since 1970, or forever`},
		{"PAUSE-3 no time", `{"paused-until":0}`, "0 is not a valid paused-until value: a date such as 2027-01-01T08:00:00Z, ms since 1970, or forever"},
		{"PAUSE-3 forever", `{"paused-until":"forever"}`, ""},
		{"ANS-1", `{"expired-requests":"answer"}`, ""},
		{"ANS-1 another value", `{"expired-requests":true}`, "true is not a valid expired-requests value"},
		{"RETRY-6 ladder", `{"delayed-retry-ladder":"never"}`, "<<\"never\">> is not a valid delayed-retry-ladder value: 1 to 32 delays such as 1s,10s,1m"},
		{"RETRY-6 ladder and multiplier", `{"delayed-retry-ladder":"1s","delayed-retry-multiplier":2}`, "delayed-retry-ladder has all delays: it goes without delayed-retry-multiplier"},
		{"RETRY-6 multiplier alone", `{"delayed-retry-multiplier":2}`, "delayed-retry-min is required with delayed-retry-multiplier"},
		{"RETRY-7 jitter", `{"delayed-retry-ladder":"1s","delayed-retry-jitter":101}`, "101 is not a valid delayed retry jitter"},
		{"RETRY-7 jitter alone", `{"delayed-retry-jitter":9}`, "delayed-retry-min or delayed-retry-ladder is required with delayed-retry-jitter"},
		{"RETRY-6 ladder with a type", `{"delayed-retry-ladder":"1s","delayed-retry-type":"all","delayed-retry-jitter":9}`, ""},
		{"POL-5 delayed-retry bounds", `{"delayed-retry-min":5,"delayed-retry-max":4}`, "delayed-retry-max (4) must not be smaller than delayed-retry-min (5)"},
		{"POL-5 unknown", `{"foo":1}`, `[{<<"foo">>,1}] are not recognised policy settings`},
		{"POL-5 all unknown are listed", `{"foo":1,"expires":1,"bar":"x"}`, `[{<<"bar">>,<<"x">>},{<<"foo">>,1}] are not recognised policy settings`},
		{"POL-5 a bad value before unknown keys", `{"bar":1,"expires":0}`, "0 is not a valid queue expiry"},
		{
			"POL-5 many unknown take a line each", `{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1,"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb":2}`,
			`[{<<"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">>,1},` + "\n" + ` {<<"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb">>,2}] are not recognised policy settings`,
		},
		{"POL-5 not settable by policy", `{"max-priority":5}`, `[{<<"max-priority">>,5}] are not recognised policy settings`},
		{"POL-5 umlaut", `{"ä":"é"}`, `[{<<"ä"/utf8>>,<<"é"/utf8>>}] are not recognised policy settings`},
		{"POL-5 escapes", `{"a\"\\":"\n"}`, `[{<<"a\"\\">>,<<"\n">>}] are not recognised policy settings`},
		{"POL-5 not printable", `{"a":"\u0001b"}`, `[{<<"a">>,<<1,98>>}] are not recognised policy settings`},
		{"POL-5 of duplicates the first counts", `{"expires":1,"expires":0}`, valid},
		{"POL-14 empty", `{}`, "no policy provided"},
		{"POL-14 empty list", `[]`, "no policy provided"},
		{"POL-14 list", `[{"expires":1}]`, `definition must be a dictionary: [#{<<"expires">> => 1}]`},
		{"POL-14 string", `"x"`, `parse error while reading policy p: <<"x">>. Validator: policy_validator.`},
		{"TTL-30 expiry-order", `{"expiry-order":"strict","message-ttl-retroactive":true,"expires-if-empty":false}`, valid},
		{"TTL-30 expiry-order other", `{"expiry-order":"late"}`, `<<"late">> is not a valid expiry order`},
		{"DL-20 dead-letter-count", `{"dead-letter-count":1}`, `1 is not a valid dead-letter-count value`},
		{"DL-23 dead-letter-continue", `{"dead-letter-continue":"yes"}`, `<<"yes">> is not a valid dead-letter-continue value`},
		{"TTL-11 stamp-expiry", `{"stamp-expiry":1}`, `1 is not a valid stamp-expiry value`},
		{"TTL-5 expires-at-header", `{"expires-at-header":""}`, `<<>> is not a valid expires-at-header name`},
		{"DL-9 dead-letter-expired", `{"dead-letter-expired":"no"}`, `<<"no">> is not a valid dead-letter-expired value`},
		{"SBR-7 dead-letter-failed-rules", `{"dead-letter-failed-rules":"no"}`, `<<"no">> is not a valid dead-letter-failed-rules value`},
		{"DL-1 dead-letter-queue", `{"dead-letter-queue":"yes"}`, `<<"yes">> is not a valid dead-letter-queue value`},
		{"forward-to", `{"forward-to":7}`, `7 is not a valid exchange name to forward to`},
		{"LEASE-4 expires-renewed-by", `{"expires-renewed-by":"ack"}`, `<<"ack">> is not a valid expires-renewed-by value`},
		{
			"entity settings", `{"stamp-expiry":true,"expires-at-header":"expires","dead-letter-expired":false,"dead-letter-queue":true,` +
				`"forward-to":"","expires-renewed-by":"peek,update"}`, valid,
		},
		{"DLY-8 delayed-messages", `{"delayed-messages":1}`, `1 is not a valid delayed-messages value`},
		{"DLY-8 deliver-at-header", `{"deliver-at-header":""}`, `<<>> is not a valid deliver-at-header name`},
		{"DLY-13 overdue-messages", `{"overdue-messages":"keep"}`, `<<"keep">> is not a valid overdue-messages value`},
		{"DLY-13 release-rate", `{"release-rate":0}`, `0 is not a valid release rate`},
		{"DLY-8 all", `{"delayed-messages":true,"deliver-at-header":"eta","overdue-messages":"dead-letter","release-rate":1}`, valid},
		{"TTL-25 retroactive string", `{"message-ttl-retroactive":"yes"}`, `<<"yes">> is not a valid message-ttl-retroactive value`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("/", "p", false, body("^q", test.definition))
			checkText(t, err, test.text)
		})
	}
}

func checkText(t *testing.T, err error, want string) {
	t.Helper()
	var invalid *ValidationError
	switch {
	case err == nil && want == valid:
	case err == nil:
		t.Errorf("no error, want %q", want)
	case !errors.As(err, &invalid):
		t.Errorf("error %T %v, want *ValidationError %q", err, err, want)
	case invalid.Text != want:
		t.Errorf("text\n%s\nwant\n%s", invalid.Text, want)
	}
}

func TestParseOperatorKeys_POL6(t *testing.T) {
	accepted := []string{
		`"expires":1`, `"message-ttl":1`, `"max-length":1`, `"max-length-bytes":1`, `"max-in-memory-length":1`,
		`"max-in-memory-bytes":1`, `"delivery-limit":1`, `"queue-version":2`, `"overflow":"drop-head"`, `"target-group-size":3`,
	}
	for _, pair := range accepted {
		if _, err := Parse("/", "op", true, body("", "{"+pair+"}")); err != nil {
			t.Errorf("POL-6 %s: %v", pair, err)
		}
	}
	_, err := Parse("/", "op", true, body("", `{"dead-letter-exchange":"x","message-ttl":1}`))
	checkText(t, err, `[{<<"dead-letter-exchange">>,<<"x">>}] are not recognised policy settings`)
	_, err = Parse("/", "op", true, body("", `1`))
	checkText(t, err, "parse error while reading policy op: 1. Validator: operator_policy_validator.")
}

func TestParseFields(t *testing.T) {
	const d = `"definition":{"expires":1}`
	tests := []struct{ name, body, text string }{
		{"POL-14 pattern", `{"pattern":"(",` + d + `}`, `pattern should be regular expression but is invalid: {"missing )",1}`},
		{"POL-14 pattern number", `{"pattern":1,` + d + `}`, "pattern should be a binary but was 1"},
		{"POL-14 pattern null", `{"pattern":null,` + d + `}`, "pattern should be a binary but was null"},
		{"POL-2 pattern too long", `{"pattern":"` + strings.Repeat("a", 1025) + `",` + d + `}`, "pattern must not exceed 1024 bytes"},
		{"POL-2 longest pattern", `{"pattern":"` + strings.Repeat("a", 1024) + `",` + d + `}`, valid},
		{"POL-14 priority", `{"pattern":"","priority":"high",` + d + `}`, `priority should be a number, actually was <<"high">>`},
		{"POL-14 priority null", `{"pattern":"","priority":null,` + d + `}`, "priority should be a number, actually was null"},
		{"POL-14 priority float", `{"pattern":"","priority":1.5,` + d + `}`, valid},
		{"POL-14 apply-to", `{"pattern":"","apply-to":"foo",` + d + `}`, notOne},
		{"POL-14 apply-to number", `{"pattern":"","apply-to":7,` + d + `}`, strings.Replace(notOne, "foo", "7", 1)},
		{"POL-12 other keys are ignored", `{"pattern":"","name":"x","vhost":1,"zzz":[],` + d + `}`, valid},
		{
			"POL-14 all failures in order", `{"priority":"x","pattern":"*","apply-to":"foo","definition":{"expires":0}}`,
			"0 is not a valid queue expiry\n" + notOne + "\n" +
				`pattern should be regular expression but is invalid: {"nothing to repeat",0}` + "\n" +
				`priority should be a number, actually was <<"x">>`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("/", "p", false, []byte(test.body))
			checkText(t, err, test.text)
		})
	}
	for _, value := range []string{"all", "queues", "exchanges", "classic_queues", "quorum_queues", "streams"} {
		if p := parsed(t, "p", "", `{"max-length":1}`, `"apply-to":"`+value+`"`); p.ApplyTo != value {
			t.Errorf("POL-3 apply-to %s: %q", value, p.ApplyTo)
		}
	}
}

func TestParseReason(t *testing.T) {
	_, err := Parse("/", "p", false, body("(", `{}`))
	var invalid *ValidationError
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	const want = "Validation failed\n\nno policy provided\n" +
		`pattern should be regular expression but is invalid: {"missing )",1}` + "\n"
	if invalid.Reason() != want {
		t.Errorf("POL-14 reason %q, want %q", invalid.Reason(), want)
	}
}

func TestParseBody(t *testing.T) {
	const both = "[{key_missing,pattern},{key_missing,definition}]"
	tests := []struct{ name, body, reason string }{
		{"POL-14 pattern missing", `{"definition":{"expires":1}}`, "[{key_missing,pattern}]"},
		{"POL-14 definition missing", `{"pattern":"x"}`, "[{key_missing,definition}]"},
		{"POL-14 both missing", `{}`, both},
		{"POL-14 empty body", ``, both},
		{"POL-14 null body", `null`, both},
		{"POL-14 not JSON", `{"pattern"`, "not_json"},
		{"POL-14 trailing text", `{"pattern":"","definition":{"expires":1}} x`, "not_json"},
		{"POL-14 list", `[]`, "not_json"},
		{"POL-14 number", `3`, "not_json"},
		{"POL-14 bad UTF-8", "{\"pattern\":\"\xff\",\"definition\":{\"expires\":1}}", "not_json"},
		{"POL-14 float out of range", `{"pattern":"","definition":{"expires":1e999}}`, "not_json"},
		{"POL-14 encoded twice", `"{}"`, "invalid payload: the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("/", "p", false, []byte(test.body))
			var malformed *BodyError
			if !errors.As(err, &malformed) || malformed.Reason != test.reason {
				t.Errorf("error %v, want reason %s", err, test.reason)
			}
		})
	}
}

func TestParseDefaultsAndItem(t *testing.T) {
	p := parsed(t, "p1", "^pq", `{"message-ttl":60000,"expires":1800000}`)
	if p.ApplyTo != "all" || p.Priority != "0" || p.VHost != "/" || p.Name != "p1" || p.Pattern != "^pq" {
		t.Errorf("POL-12 defaults: %+v", p)
	}
	p = parsed(t, "p1", "^pq", `{"message-ttl":60000,"expires":1800000}`, `"priority":3`, `"apply-to":"queues"`)
	const want = `{"vhost":"/","name":"p1","pattern":"^pq","apply-to":"queues","definition":{"expires":1800000,"message-ttl":60000},"priority":3}`
	item, err := json.Marshal(p)
	if err != nil || string(item) != want {
		t.Errorf("POL-13 item %s %v\nwant %s", item, err, want)
	}
	if text := p.Definition.String(); text != `{"expires":1800000,"message-ttl":60000}` {
		t.Errorf("POL-17 definition %s", text)
	}
}

func TestItemRoundTrip(t *testing.T) {
	p := operator(t, `a"<&>é`, `^(?!amq\.)<x>`, `{"max-length":99999999999999999999,"delivery-limit":-1}`, `"priority":-1.50`)
	item, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"vhost":"/","name":"a\"<&>é","pattern":"^(?!amq\\.)<x>","apply-to":"all",` +
		`"definition":{"delivery-limit":-1,"max-length":99999999999999999999},"priority":-1.5}`
	if string(item) != want {
		t.Errorf("POL-13 item %s\nwant %s", item, want)
	}
	back, err := Restore("/", p.Name, true, item)
	if err != nil || !back.Equal(p) {
		t.Errorf("POL-13 read back: %+v %v", back, err)
	}
}

func TestParseDefinitionText(t *testing.T) {
	tests := []struct{ name, text, want, failure string }{
		{"POL-17 compact, sorted", ` { "b" : [ 1 , 2.50 ] , "a" : { "c" : null , "d" : true } } `, `{"a":{"c":null,"d":true},"b":[1,2.5]}`, ""},
		{"POL-18 word", `foo`, "", "Could not parse JSON document: {invalid_byte,111}"},
		{"POL-18 unfinished", `{"a":`, "", "Could not parse JSON document: unexpected_end"},
		{"POL-18 empty", ``, "", "Could not parse JSON document: unexpected_end"},
		{"POL-18 trailing", `{} x`, "", "Could not parse JSON document: {invalid_byte,120}"},
		{"POL-18 UTF-8", "{\"\xff\":1}", "", "Could not parse JSON document: {invalid_byte,255}"},
		{"POL-14 list", `[1]`, "", `definition must be a dictionary: [1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := ParseDefinition([]byte(test.text))
			if err != nil && err.Error() != test.failure || err == nil && d.String() != test.want {
				t.Errorf("%s %v, want %s %s", d, err, test.want, test.failure)
			}
		})
	}
}

// A pattern that does not compile is refused in RabbitMQ's words (POL-14).
func TestParsePattern_POL14(t *testing.T) {
	for source, want := range map[string]string{
		"[z-a]":                   `pattern should be regular expression but is invalid: {"range out of order in character class",3}`,
		strings.Repeat("a", 1024): "",
		strings.Repeat("a", 1025): "pattern must not exceed 1024 bytes",
	} {
		if p, failure := compilePattern(source); failure != want || (p == nil) != (want != "") {
			t.Errorf("%.9s: %q, want %q", source, failure, want)
		}
	}
}
