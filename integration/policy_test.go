package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// policyInterface is an interface to policies. All three access the same registry.
type policyInterface struct {
	set   func(name, pattern, definition string)
	clear func(name string)
}

func (b *broker) policyInterfaces() map[string]policyInterface {
	return map[string]policyInterface{
		"http": {
			set: func(name, pattern, definition string) {
				body := fmt.Sprintf(`{"pattern":%q,"apply-to":"queues","definition":%s}`, pattern, definition)
				b.request("PUT", "/api/policies/%2F/"+name, body, http.StatusCreated)
			},
			clear: func(name string) { b.request("DELETE", "/api/policies/%2F/"+name, "", http.StatusNoContent) },
		},
		"command line": {
			set: func(name, pattern, definition string) {
				out := b.verb(0, "set_policy", "--apply-to", "queues", name, pattern, definition)
				if want := fmt.Sprintf(`Setting policy "%s" for pattern "%s" to "%s" with priority "0" for vhost "/" ...`, name, pattern, definition) + "\n"; out != want {
					b.Errorf("got  %s\nwant %s", out, want)
				}
			},
			clear: func(name string) { b.verb(0, "clear_policy", name) },
		},
		"amqp": {
			set: func(name, pattern, definition string) {
				b.admin("policy.set", fmt.Sprintf(`{"name":%q,"pattern":%q,"apply-to":"queues","definition":%s}`, name, pattern, definition))
			},
			clear: func(name string) { b.admin("policy.clear", fmt.Sprintf(`{"name":%q}`, name)) },
		},
	}
}

// request sends a request to the HTTP API and returns the body.
func (b *broker) request(method, path, body string, want int) string {
	b.Helper()
	status, text := b.ask(method, path, body)
	if status != want {
		b.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return string(text)
}

// ask sends a request to the HTTP API as guest.
func (b *broker) ask(method, path, body string) (status int, text []byte) {
	b.Helper()
	return b.askAs("guest", method, path, body)
}

// askAs sends a request as a user whose password is its name.
func (b *broker) askAs(user, method, path, body string) (status int, text []byte) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, "http://"+b.http+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.SetBasicAuth(user, user)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		b.Fatalf("%s %s: %s %v", method, path, answer.Status, err)
	}
	return answer.StatusCode, text
}

// verb runs candlemark with a verb of rabbitmqctl and returns its output.
func (b *broker) verb(want int, args ...string) string {
	b.Helper()
	code, out := b.exit(args...)
	if code != want {
		b.Fatalf("%q: %d\n%s", args, code, out)
	}
	return out
}

// exit runs the command line and returns its exit code.
func (b *broker) exit(args ...string) (code int, out string) {
	b.Helper()
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), path, args...)
	cmd.Env = append(cmd.Environ(), "CANDLEMARK_HTTP_URL=http://"+b.http)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		b.Fatalf("%q: %v\n%s", args, err, text)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// admin sends a command to the exchange candlemark.admin and returns the answer.
func (b *broker) admin(key, body string) map[string]any {
	b.Helper()
	c := b.dial()
	replies := c.queue("", nil)
	deliveries := c.consume(replies, true)
	c.put("candlemark.admin", key, amqp.Publishing{ReplyTo: replies, CorrelationId: "c1", Body: []byte(body)})
	d := c.next(deliveries)
	var answer map[string]any
	if err := json.Unmarshal(d.Body, &answer); err != nil || d.CorrelationId != "c1" || answer["ok"] != true {
		b.Fatalf("%s: %s %v", key, d.Body, err)
	}
	return answer
}

// A policy that applies to none of the objects that it matches says so when it is set, on the command line and over AMQP.
func TestShadowedPolicySaysSo_POL1(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	for i := range 12 {
		c.queue(fmt.Sprint("orders", i), nil)
	}
	const warning = "matches 12 queues, applies to none; shadowed by 'high'"
	if out := b.verb(0, "set_policy", "high", "^orders", `{"max-length":100}`, "--priority", "5"); strings.Contains(out, "Warning") {
		t.Error(out)
	}
	if out := b.verb(0, "set_policy", "low", "^orders", `{"expires":60000}`); !strings.HasSuffix(out, "\nWarning: policy 'low' "+warning+"\n") {
		t.Error(out)
	}
	if out := b.verb(0, "preview_policy", "low", "^orders", `{"expires":60000}`, "--formatter", "json"); !strings.Contains(out, `"warning":"`+warning+`"`) {
		t.Error(out)
	}
	for body, want := range map[string]any{
		`{"name":"again","pattern":"^orders","definition":{"expires":60000}}`:              warning,
		`{"name":"again","pattern":"^orders","definition":{"expires":60000},"priority":9}`: nil,
	} {
		if got := b.admin("policy.set", body)["warning"]; got != want {
			t.Errorf("%s: %v", body, got)
		}
		b.admin("policy.clear", `{"name":"again"}`)
	}
	if got := b.admin("operator_policy.set", `{"name":"roof","pattern":"^orders","definition":{"expires":60000}}`); got["warning"] != nil {
		t.Errorf("%v", got)
	}
}

// A policy applies to the next message published, and its removal to the one after that; queued messages keep their deadlines
// (TTL-24).
func TestPOL9_HotPolicyThroughEveryInterface(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	for name, through := range b.policyInterfaces() {
		q := c.queue("hot."+name, nil)
		c.send(q, "before")
		through.set("short", "^hot\\.", `{"message-ttl":0}`)
		c.send(q, "under")
		through.clear("short")
		c.send(q, "after")
		c.holds(q, "before", "after")
	}
}

func TestPOL9_PolicyOnLeaseAndDeadLetters(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	dead := c.queue("dead", nil)
	c.queue("brief.q", nil)
	q := c.queue("die.q", nil)
	b.request("PUT", "/api/policies/%2f/brief", `{"pattern":"^brief","definition":{"expires":200}}`, http.StatusCreated)
	b.request("PUT", "/api/policies/%2f/die",
		`{"pattern":"^die","definition":{"dead-letter-exchange":"","dead-letter-routing-key":"dead","message-ttl":100}}`, http.StatusCreated)
	c.send(q, "m")
	c.bodies(c.consume(dead, true), "m")
	eventually(t, "a policy ends the queue", func() bool { return !c.takes("brief.q") })
}

func TestPOL7_OperatorPolicyWins(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	q := c.queue("op", amqp.Table{"x-message-ttl": int32(3_600_000)})
	b.verb(0, "set_policy", "user", "^op$", `{"message-ttl":60000,"max-length":5}`)
	b.verb(0, "set_operator_policy", "limit", "^op$", `{"message-ttl":0}`)
	c.send(q, "gone")
	c.holds(q)
	var item struct {
		Policy         string         `json:"policy"`
		OperatorPolicy string         `json:"operator_policy"`
		Effective      map[string]any `json:"effective_policy_definition"`
	}
	if err := json.Unmarshal([]byte(b.request("GET", "/api/queues/%2F/op", "", http.StatusOK)), &item); err != nil {
		t.Fatal(err)
	}
	if item.Policy != "user" || item.OperatorPolicy != "limit" || item.Effective["message-ttl"] != 0.0 || item.Effective["max-length"] != 5.0 {
		t.Errorf("%+v", item)
	}
	list := b.verb(0, "list_policies")
	want := "Listing policies for vhost \"/\" ...\nvhost\tname\tpattern\tapply-to\tdefinition\tpriority\n" +
		"/\tuser\t^op$\tall\t{\"max-length\":5,\"message-ttl\":60000}\t0\n"
	if list != want {
		t.Errorf("got  %q\nwant %q", list, want)
	}
	b.verb(0, "clear_operator_policy", "limit")
	c.send(q, "kept")
	c.holds(q, "kept")
}

func TestPOL14_RefusedPolicies(t *testing.T) {
	t.Parallel()
	b := start(t)
	got := b.request("PUT", "/api/policies/%2F/bad", `{"pattern":"x","definition":{"message-ttl":-1}}`, http.StatusBadRequest)
	if want := `{"error":"bad_request","reason":"Validation failed\n\n-1 is not a valid message TTL\n"}`; got != want {
		t.Errorf("%s", got)
	}
	if out := b.verb(69, "set_policy", "bad", "x", `{"message-ttl":-1}`); !strings.Contains(out, "-1 is not a valid message TTL") {
		t.Errorf("%s", out)
	}
	if out := b.verb(69, "clear_policy", "nothing"); !strings.Contains(out, "Parameter does not exist") {
		t.Errorf("%s", out)
	}
	b.verb(64, "set_policy", "few")
}

// The lease is renewed by a change of the policy, not by read-only requests (LEASE-4).
func TestLEASE4_LookingRenewsNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	c.queue("seen", amqp.Table{"x-expires": int32(300)})
	eventually(t, "the queue ends although it is looked at", func() bool {
		var list []struct{ Name string }
		if err := json.Unmarshal([]byte(b.request("GET", "/api/queues/%2F", "", http.StatusOK)), &list); err != nil {
			t.Fatal(err)
		}
		return len(list) == 0
	})
}
