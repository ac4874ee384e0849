package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPasswordsAreNotPrinted: an error about an invalid address does not contain its password.
func TestPasswordsAreNotPrinted(t *testing.T) {
	for _, address := range []string{
		"guest:s3cret@127.0.0.1:15672", "http://guest:s3cret@127.0.0.1:x", "http//guest:s3cret@host", "http://guest:s3cret@[::1", "ftp://guest:s3cret@host",
		"http://guest:s3cret%zz@host", " http://guest:s3cret@host", "http://guest:s3cret\x7f@host", "guest:s3cret", "http:guest:s3cret@host", "http://guest:80s3cret",
	} {
		if _, err := New(address); err == nil || strings.Contains(err.Error(), "s3c") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestRequests_POL12: a request has escaped names, the login and the body of POL-12.
func TestRequests_POL12(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.EscapedPath()+" "+user+" "+password+" "+string(body))
		if r.Method == "GET" {
			_, _ = w.Write([]byte(`[{"vhost":"/","name":"p","pattern":"q","apply-to":"all","definition":{"expires":1},"priority":1.5}]`))
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer s.Close()
	c, err := New("http://me:p%40ss@" + s.Listener.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := Policy{VHost: "/", Name: "a/b %", Pattern: "^q", ApplyTo: "queues", Definition: json.RawMessage(`{"expires":1}`), Priority: "3"}
	if err := c.SetPolicy(context.Background(), p, false); err != nil {
		t.Error(err)
	}
	if err := c.ClearPolicy(context.Background(), "dev", "x", true); err != nil {
		t.Error(err)
	}
	list, err := c.ListPolicies(context.Background(), "/", false)
	if err != nil || len(list) != 1 || list[0].Priority != "1.5" || string(list[0].Definition) != `{"expires":1}` {
		t.Errorf("%+v, %v", list, err)
	}
	for i, want := range []string{
		`PUT /api/policies/%2F/a%2Fb%20%25 me p@ss {"vhost":"/","name":"a/b %","pattern":"^q","apply-to":"queues","definition":{"expires":1},"priority":3}`,
		`DELETE /api/operator-policies/dev/x me p@ss `,
		`GET /api/policies/%2F me p@ss `,
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("\n got %q\nwant %s", got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	body, status := `{"error":"bad_request","reason":"no"}`, 400
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	c, err := New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var refused *Error
	if err := c.ClearPolicy(context.Background(), "/", "p", false); !errors.As(err, &refused) || *refused != (Error{400, "bad_request", "no", body}) {
		t.Errorf("%v", err)
	}
	body = `{"error":"bad_request","reason":["not_boolean",7]}`
	if err := c.ClearPolicy(context.Background(), "/", "p", false); err == nil || err.Error() != `["not_boolean",7]` {
		t.Errorf("%v", err)
	}
	body, status = "gone", 503
	if err := c.ClearPolicy(context.Background(), "/", "p", false); err == nil || err.Error() != "Service Unavailable" {
		t.Errorf("%v", err)
	}
	for _, address := range []string{"", "127.0.0.1:15672", "amqp://127.0.0.1", "http://", "::"} {
		if _, err := New(address); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}

// TestAddressFrom: without a URL, the client logs in as the first user that the environment sets, as in a container.
func TestAddressFrom(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"http://guest:guest@127.0.0.1:15672":  {},
		"http://ops:s%2F3@127.0.0.1:15672":    {"RABBITMQ_DEFAULT_USER": "ops", "RABBITMQ_DEFAULT_PASS": "s/3"},
		"http://mine:guest@127.0.0.1:15672":   {"RABBITMQ_DEFAULT_USER": "ops", "CANDLEMARK_DEFAULT_USER": "mine"},
		"https://a:b@broker.example.com:8000": {"CANDLEMARK_HTTP_URL": "https://a:b@broker.example.com:8000", "CANDLEMARK_DEFAULT_USER": "mine"},
	} {
		if got := AddressFrom(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %s", env, got)
		}
	}
}
