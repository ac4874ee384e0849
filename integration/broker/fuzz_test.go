package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/rs/zerolog"
)

// fuzzedPaths are all requests that take a body or a query. They name the same objects each time, so that objects do not
// accumulate.
var fuzzedPaths = []string{
	"PUT /api/policies/v/p", "PUT /api/operator-policies/v/p", "PUT /api/parameters/c/v/n", "PUT /api/parameters/operator_policy/v/n",
	"PUT /api/parameters/vhost-limits/v/limits", "PUT /api/global-parameters/n", "PUT /api/vhosts/v", "PUT /api/users/u",
	"PUT /api/permissions/v/u", "PUT /api/topic-permissions/v/u", "POST /api/users/bulk-delete", "PUT /api/vhost-limits/v/max-queues",
	"PUT /api/user-limits/u/max-channels", "PUT /api/queues/v/q", "PUT /api/exchanges/v/x", "POST /api/bindings/v/e/x/q/q",
	"POST /api/bindings/v/e/x/e/x", "POST /api/exchanges/v/x/publish", "POST /api/exchanges/v/amq.default/publish", "POST /api/queues/v/q/get",
	"PUT /api/cluster-name", "PUT /api/disk-free-limit", "PUT /api/memory-high-watermark", "PUT /api/x/queues/v/q/scheduled/1",
	"PUT /api/x/queues/v/q/scheduled", "POST /api/x/queues/v/q/unacked/1/renew", "POST /api/x/queues/v/q/unacked/1/return", "DELETE /api/queues/v/q", "DELETE /api/exchanges/v/x",
	"GET /api/queues", "GET /api/queues/v", "GET /api/queues/v/q", "GET /api/exchanges/v", "GET /api/bindings", "GET /api/overview",
	"GET /api/connections", "GET /api/channels", "GET /api/nodes", "GET /api/x/queues/v/q/messages", "GET /api/x/queues/v/q/unacked",
	"GET /api/x/queues/v/q/scheduled", "GET /api/x/queues/v/q/scheduled/counts", "GET /api/x/dead-letters",
}

// extremes are numbers at the limits of integer and floating-point types, and beyond them.
var extremes = []string{
	"0", "-0", "-1", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e309", "-1e309", "1e18",
	"1e-400", "0.5", "255.5", strings.Repeat("9", 10_000),
}

// deep are deeply nested values and long strings.
var deep = []string{
	strings.Repeat("[", 20_000), strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000),
	strings.Repeat("(", 3_000) + strings.Repeat(")*", 3_000), `"` + strings.Repeat("x", 70_000) + `"`, `"` + strings.Repeat(`\u0000`, 300) + `"`,
}

// alarmed is a log that records when an actor panics.
type alarmed struct{ panics atomic.Pointer[string] }

func (a *alarmed) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic")) {
		text := string(line)
		a.panics.CompareAndSwap(nil, &text)
	}
	return len(line), nil
}

// Any request to the HTTP API is answered with JSON and without an internal error, and no actor panics.
func FuzzHTTP(f *testing.F) {
	log := &alarmed{}
	defs, journal, users := definitions.NewMemory(), memory.New(memory.Options{}), auth.NewGuest()
	node, err := supervision.Start(supervision.Config{
		Users: users, Meta: defs, Journal: journal, Log: zerolog.New(log).Level(zerolog.WarnLevel), Workers: 2,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			f.Error(err)
		}
		_ = journal.Close()
		_ = defs.Close()
	})
	handler := httpapi.NewHandler(node.API(), users, zerolog.New(log))
	ask := func(method, path, query, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.URL = &url.URL{Path: path, RawQuery: query}
		r.RemoteAddr = "127.0.0.1:1"
		r.SetBasicAuth("guest", "guest")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer
	}
	begin := func() {
		ask("DELETE", "/api/vhosts/v", "", "")
		ask("PUT", "/api/users/u", "", `{"password":"u","tags":"management"}`)
		ask("PUT", "/api/vhosts/v", "", "")
		ask("PUT", "/api/queues/v/q", "", `{"arguments":{"x-delayed-messages":true}}`)
		ask("PUT", "/api/exchanges/v/x", "", `{"type":"topic"}`)
		ask("PUT", "/api/memory-high-watermark", "", `{"relative":0.9}`)
		ask("PUT", "/api/disk-free-limit", "", `{"absolute":0}`)
	}
	begin()
	addSeeds(f)
	n := 0
	f.Fuzz(func(t *testing.T, path uint8, query, body string) {
		if n++; n%200 == 0 {
			begin()
		}
		method, where, _ := strings.Cut(fuzzedPaths[int(path)%len(fuzzedPaths)], " ")
		answer := ask(method, where, query, body)
		if answer.Code >= http.StatusInternalServerError && answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%s %s?%s %s: %d %s", method, where, query, body, answer.Code, answer.Body)
		}
		if text := answer.Body.Bytes(); len(text) > 0 && !json.Valid(text) {
			t.Errorf("%s %s?%s %s: %d %q is no JSON", method, where, query, body, answer.Code, text)
		}
		if p := log.panics.Swap(nil); p != nil {
			t.Errorf("%s %s?%s %s: %s", method, where, query, body, *p)
		}
	})
}

// addSeeds adds valid and extreme requests for every path.
func addSeeds(f *testing.F) {
	for i := range fuzzedPaths {
		for _, body := range []string{
			`{"pattern":"","definition":{"message-ttl":1},"priority":1}`, `{"value":{"max-queues":1}}`, `{"password":"p","tags":"a,b","limits":{}}`,
			`{"durable":true,"arguments":{"x-expires":1000,"x-max-priority":1}}`, `{"type":"x-delayed-message","arguments":{"x-delayed-type":"topic"}}`,
			`{"routing_key":"q","payload":"aGk=","payload_encoding":"base64","properties":{"headers":{"x-delay":1},"expiration":"1"}}`,
			`{"count":2,"ackmode":"ack_requeue_true","encoding":"auto","truncate":1}`, `{"routing_key":"#.a.*","arguments":{"x-match":"any"}}`, `[1e999,{"users":["u"]}]`,
		} {
			f.Add(uint8(i), "page=1&page_size=2&sort=name&columns=name,messages&use_regex=true&name=^q", body)
		}
	}
	for i := range fuzzedPaths {
		for _, e := range extremes {
			f.Add(uint8(i), "page="+e+"&page_size="+e+"&count="+e+"&limit="+e+"&after="+e+"&truncate="+e, `{"count":`+e+
				`,"truncate":`+e+`,"priority":`+e+`,"value":`+e+`,"absolute":`+e+`,"relative":`+e+`,"due":`+e+`,"pattern":"","definition":{"message-ttl":`+
				e+`,"max-length":`+e+`},"arguments":{"x-max-length":`+e+`,"x-max-priority":`+e+`},"properties":{"priority":`+e+
				`,"headers":{"x-delay":`+e+`,"x":[`+e+`]}},"routing_key":"q","payload":"","payload_encoding":"string"}`)
			f.Add(uint8(i), "page=1&page_size="+e, `{"value":{"max-queues":`+e+`}}`)
			f.Add(uint8(i), "page="+e+"&page_size=1", `[`+e+`,{"users":[`+e+`]}]`)
		}
		for _, d := range deep {
			f.Add(uint8(i), "name="+d, d)
			f.Add(uint8(i), "use_regex=true&name="+d, `{"arguments":`+d+`,"definition":`+d+`,"value":`+d+`,"pattern":`+d+`}`)
		}
	}
}
