package site

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request makes a request of these headers, "Name: value"; over TLS if its method is in lower case.
func request(method, host string, headers ...string) *http.Request {
	q := httptest.NewRequest(strings.ToUpper(method), "/api/overview", nil)
	q.Host = host
	if method != q.Method {
		q.TLS = &tls.ConnectionState{}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header.Add(name, value)
	}
	return q
}

// A browser is served under names that no other site can have. Other clients are served under any name.
func TestHosts_ACC7(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	rules := New(Config{Hosts: []string{"Broker.example.", "*.Inner.example", "single"}})
	for host, want := range map[string]Refusal{
		"127.0.0.1:15672": "", "127.0.0.1": "", "[::1]:15672": "", "[::1]": "", "[fe80::1%25eth0]:1": "", "10.1.2.3:80": "", "localhost": "", "LOCALHOST:15672": "", "localhost.:1": "",
		"queue.localhost:1": "", strings.ToUpper(machine) + ":15672": "", "broker.example": "", "BROKER.example.:443": "", "a.inner.example": "", "b.a.inner.example:1": "", "single:9": "", "": "",
		"evil.example": UnknownHost, "evil.example:15672": UnknownHost, "x.broker.example": UnknownHost, "inner.example": UnknownHost, "evilinner.example": UnknownHost, "localhost.evil.example": UnknownHost,
		"127.0.0.1.evil.example": UnknownHost, "127.0.0.1x": UnknownHost, "evillocalhost": UnknownHost, "2130706433.evil": UnknownHost, "[evil]:1": UnknownHost, "evil@localhost": UnknownHost, ".inner.example": UnknownHost,
		"a.inner.example.evil": UnknownHost, "*.inner.example.x": UnknownHost,
	} {
		for _, mark := range []string{"Referer: http://x/", "Cookie: a=b", "Accept-Language: en", "Accept-Language: ", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"} {
			if got := rules.Judge(request("GET", host, mark)); got != want {
				t.Errorf("%q with %s: %q", host, mark, got)
			}
		}
		for _, method := range []string{"GET", "PUT"} {
			for _, client := range []string{"User-Agent: curl/8", "User-Agent: Prometheus/2", "Authorization: Basic x", "Accept: */*"} {
				if got := rules.Judge(request(method, host, client)); got != "" {
					t.Errorf("%q with %s: %q", host, client, got)
				}
			}
			// fetch of Node
			if got := rules.Judge(request(method, host, "Accept-Language: *", "Sec-Fetch-Mode: cors", "User-Agent: node")); got != "" {
				t.Errorf("%q by Node: %q", host, got)
			}
			// With TLS the browser has checked the name.
			if got := rules.Judge(request(strings.ToLower(method), host, "Sec-Fetch-Site: same-origin", "Accept-Language: en")); got != "" {
				t.Errorf("%q over TLS: %q", host, got)
			}
		}
		if host != "" {
			if got := rules.Judge(request("PUT", host, "Origin: http://"+host)); (got == "") != (want == "") && !strings.ContainsAny(host, "%@") {
				t.Errorf("%q with its origin: %q", host, got)
			}
		}
	}
	if got := New(Config{Hosts: []string{"*"}}).Judge(request("PUT", "evil.example", "Origin: http://evil.example")); got != "" {
		t.Errorf("any host: %q", got)
	}
}

// Requests that a browser sends for a page of another site are refused, except links to pages.
func TestOrigins_ACC8(t *testing.T) {
	rules := New(Config{})
	for _, c := range []struct {
		headers string // separated by |
		reads   Refusal
		changes Refusal
	}{
		{"", "", ""},
		{"Origin: http://localhost:1", "", ""},
		{"Origin: HTTP://LOCALHOST:1", "", ""},
		{"Origin: https://localhost:1", "", ""}, // a proxy may have ended TLS
		{"Origin: http://localhost:2", CrossOrigin, CrossOrigin},
		{"Origin: http://localhost", CrossOrigin, CrossOrigin},
		{"Origin: http://localhost:1.evil.example", CrossOrigin, CrossOrigin},
		{"Origin: http://evil.example", CrossOrigin, CrossOrigin},
		{"Origin: null", CrossOrigin, CrossOrigin},
		{"Origin: ", CrossOrigin, CrossOrigin},
		{"Origin: http://localhost:1|Origin: http://evil.example", CrossOrigin, CrossOrigin},
		{"Origin: ://", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: same-origin", "", ""},
		{"Sec-Fetch-Site: none", "", ""},
		{"Sec-Fetch-Site: same-site", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: cross-site", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: cross-site|Origin: http://localhost:1", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", "", CrossOrigin},
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document|Upgrade: websocket", CrossOrigin, CrossOrigin},
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: websocket|Upgrade: websocket", CrossOrigin, CrossOrigin},
	} {
		var headers []string
		if c.headers != "" {
			headers = strings.Split(c.headers, "|")
		}
		for method, want := range map[string]Refusal{"GET": c.reads, "HEAD": c.reads, "PUT": c.changes, "POST": c.changes, "DELETE": c.changes, "PATCH": c.changes, "OPTIONS": ""} {
			if got := rules.Judge(request(method, "localhost:1", headers...)); got != want {
				t.Errorf("%s %s: %q, want %q", method, c.headers, got, want)
			}
		}
	}
}

// A request counts as one from this machine only if nothing suggests that it was passed on, or sent for another site.
func TestElsewhere_ACC6(t *testing.T) {
	for _, c := range []struct {
		rules Config
		host  string
		head  string
		want  bool
	}{
		{Config{}, "localhost:1", "Accept: */*", false},
		{Config{}, "127.0.0.1:1", "Accept: */*", false},
		{Config{}, "", "Accept: */*", false},
		{Config{Proxied: true}, "localhost:1", "Accept: */*", true},
		{Config{}, "evil.example", "Accept: */*", true},
		{Config{Hosts: []string{"broker.example"}}, "broker.example", "Accept: */*", false},
		{Config{}, "localhost", "X-Forwarded-For: 127.0.0.1", true},
		{Config{}, "localhost", "X-Forwarded-For: ", true},
		{Config{}, "localhost", "x-forwarded-proto: https", true},
		{Config{}, "localhost", "X-Forwarded-Whatever: x", true},
		{Config{}, "localhost", "Forwarded: for=127.0.0.1", true},
		{Config{}, "localhost", "Via: 1.1 proxy", true},
		{Config{}, "localhost", "X-Real-IP: 127.0.0.1", true},
		{Config{}, "localhost", "CF-Connecting-IP: 127.0.0.1", true},
	} {
		var got, served bool
		h := New(c.rules).Guard(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { got, served = Elsewhere(q.Context()), true }), nil)
		h.ServeHTTP(httptest.NewRecorder(), request("GET", c.host, c.head))
		if got != c.want || !served {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
