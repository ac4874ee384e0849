package parameters

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The errors about values have RabbitMQ's texts, except for addresses, whose passwords are hidden.
func TestValidate(t *testing.T) {
	const good = `"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://far","dest-queue":"b"`
	for _, c := range []struct{ component, value, want string }{
		{Shovel, `{` + good + `}`, ""},
		{Shovel, `{` + good + `,"ack-mode":"no-ack","reconnect-delay":2.5,"src-prefetch-count":7,"src-delete-after":"queue-length","src-queue-args":{"x-any":1},"dest-queue-args":{},"dest-add-forward-headers":true,"dest-publish-properties":{"delivery_mode":2,"app_id":"a"},"src-predeclared":false,"dest-exchange-key":"k","src-consumer-args":{"x-priority":1}}`, ""},
		{Shovel, `{"src-protocol":"amqp10","src-uri":"amqp://a","src-address":"x","dest-protocol":"amqp10","dest-uri":"amqp://b","dest-address":"y","dest-properties":{}}`, ""},
		{Shovel, `7`, "Must specify 'src-exchange' or 'src-queue'\ns not a list 7"},
		{Shovel, `null`, "Must specify 'src-exchange' or 'src-queue'\ns not a list null"},
		{Shovel, `{` + good + `,"src-exchange":"x","dest-exchange":"y"}`, "Cannot specify 'src-exchange' and 'src-queue'\nCannot specify 'dest-exchange' and 'dest-queue'"},
		{Shovel, `{` + good + `,"src-delete-after":5,"ack-mode":"no-ack"}`, "Cannot specify 'no-ack' and numerical 'delete-after'"},
		{Shovel, `{` + good + `,"src-delete-after":-1}`, `src-delete-after should be a number greater than or equal to 0, "never" or "queue-length", actually was -1`},
		{Shovel, `{` + good + `,"b":{"c":[1,"d"]},"a":true}`, `Unrecognised terms [{<<"a">>,true},{<<"b">>,#{<<"c">> => [1,<<"d">>]}}] in s`},
		{Shovel, `{` + good + `,"ack-mode":"maybe"}`, `ack-mode should be one of [<<"no-ack">>,<<"on-publish">>,<<"on-confirm">>], actually was <<"maybe">>`},
		{Shovel, `{` + good + `,"ack-mode":1}`, `ack-mode should be binary, actually was 1`},
		{Shovel, `{` + good + `,"reconnect-delay":"1","src-prefetch-count":null}`, "src-prefetch-count should be a number, actually was null\nreconnect-delay should be a number, actually was <<\"1\">>"},
		{Shovel, `{` + good + `,"dest-predeclared":"true"}`, `dest-predeclared should be boolean, actually was <<"true">>`},
		{Shovel, `{` + good + `,"src-queue-args":[]}`, `src-queue-args should be a map, actually was []`},
		{Shovel, `{` + good + `,"dest-publish-properties":{"colour":"red"}}`, `Unrecognised terms [{<<"colour">>,<<"red">>}] in dest-publish-properties`},
		{Shovel, `{` + good + `,"src-protocol":"local"}`, `src-protocol should be one of [<<"amqp10">>,<<"amqp091">>], actually was <<"local">>`},
		{Shovel, `{"src-uri":7,"src-queue":"a","dest-uri":["amqp://a",8]}`, "dest-uri should be list, actually was 8\nsrc-uri should be list, actually was 7"},
		{Shovel, `{"src-uri":"http://u:secret@h","src-queue":"a","dest-uri":"amqp://u:secret@h/a/b?x"}`, "\"amqp://h/a/b\" not a valid URI: {invalid_vhost,\"a/b\"}\n\"http://h\" not a valid URI: {unexpected_uri_scheme,\"http\"}"},
		{Shovel, `{"src-uri":"amqp:///closed","src-queue":"a","dest-uri":"amqp://h","dest-queue":"` + strings.Repeat("q", 256) + `"}`, "dest-queue should be less than 255 bytes, actually was 256\nnot you"},
		{Shovel, `{"src-uri":["amqp://u:12/secret@h/v","amqp:///closed"],"src-queue":"a","dest-uri":"amqp://h","src-url":"amqp://u:secret@h/v?password=secret"}`, "Unrecognised terms [{<<\"src-url\">>,<<\"amqp://***@h/v?***\">>}] in s\n\"amqp://h/v\" not a valid URI: {invalid_vhost,\"…\"}"},
		{Shovel, `{` + good + `,"src-exchange-key":"` + strings.Repeat("k", MaxValue) + `"}`, "the value of s has 65636 bytes, more than 65536"},
		{Upstream, `{"uri":["amqp://a","amqps://b?verify=verify_none"],"exchange":"e","expires":1,"queue-type":"quorum","trust-user-id":true}`, ""},
		{Upstream, `{"max-hops":"2"}`, "max-hops should be a number, actually was <<\"2\">>\nKey \"uri\" not found in s"},
		{Upstream, `{"uri":"amqp://a","channel-use-mode":"one"}`, `channel-use-mode should be one of [<<"multiple">>,<<"single">>], actually was <<"one">>`},
		{UpstreamSet, `[{"upstream":"a"},{"upstream":"b","max-hops":1}]`, ""},
		{UpstreamSet, `[{"upstream":"a"},{"queue":"b"}]`, `Key "upstream" not found in s`},
		{UpstreamSet, `{"upstream":"a"}`, `s should be list, actually was #{<<"upstream">> => <<"a">>}`},
	} {
		got := ""
		if err := Validate(c.component, "s", []byte(c.value), func(u *URI) error {
			if u.VHost == "closed" {
				return errors.New("not you")
			}
			return nil
		}); err != nil {
			got = strings.TrimSuffix(strings.TrimPrefix(err.Error(), "Validation failed\n\n"), "\n")
		}
		if got != c.want {
			t.Errorf("%.200s:\n got %s\nwant %s", c.value, got, c.want)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"src-uri":"amqp://u:p@h:1/v?heartbeat=1","src-queue":"a","dest-uri":["amqps://h"],"src-delete-after":1}`)
	f.Fuzz(func(t *testing.T, value string) {
		for _, component := range []string{Shovel, Upstream, UpstreamSet} {
			if err := Validate(component, "s", []byte(value), nil); err == nil && component == Shovel {
				w, err := ParseShovel("v", "s", []byte(value))
				if err == nil && (len(w.From.URIs) == 0 || w.From.Prefetch < 1 || w.From.Prefetch > MaxPrefetch) {
					t.Errorf("%+v", w)
				}
			}
		}
	})
}
