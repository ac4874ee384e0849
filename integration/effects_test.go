package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// effects is one interface to what policies do. Answers and refusals are JSON objects, without what only AMQP says.
type effects struct {
	name    string
	explain func(kind, name string) map[string]any
	// preview is told a definition, or "" to clear.
	preview func(name, pattern, definition string, operator bool) map[string]any
}

func (b *broker) effects() []effects {
	return []effects{
		{
			name: "http",
			explain: func(kind, name string) map[string]any {
				return b.told("GET", fmt.Sprintf("/api/x/%ss/%%2F/%s/policy", kind, name), "")
			},
			preview: func(name, pattern, definition string, operator bool) map[string]any {
				path := "/api/x/policies/%2F/" + name + "/preview"
				if operator {
					path = "/api/x/operator-policies/%2F/" + name + "/preview"
				}
				return b.told("POST", path, changeOf("", pattern, definition))
			},
		},
		{
			name: "command line",
			explain: func(kind, name string) map[string]any {
				if kind == "exchange" {
					return b.askVerb("explain_policy", name, "--exchange")
				}
				return b.askVerb("explain_policy", name)
			},
			preview: func(name, pattern, definition string, operator bool) map[string]any {
				infix := ""
				if operator {
					infix = "operator_"
				}
				if definition == "" {
					return b.askVerb("preview_clear_"+infix+"policy", name)
				}
				return b.askVerb("preview_"+infix+"policy", name, pattern, definition)
			},
		},
		{
			name: "amqp",
			explain: func(kind, name string) map[string]any {
				return b.askAdmin("policy.explain", fmt.Sprintf(`{%q:%q}`, kind, name))
			},
			preview: func(name, pattern, definition string, operator bool) map[string]any {
				key := "policy.preview"
				if operator {
					key = "operator_policy.preview"
				}
				return b.askAdmin(key, changeOf(name, pattern, definition))
			},
		},
	}
}

// changeOf is a policy, or that there is to be none, as JSON; a name is in it unless it is empty.
func changeOf(name, pattern, definition string) string {
	o := map[string]any{"pattern": pattern, "definition": json.RawMessage(definition)}
	if definition == "" {
		o = map[string]any{"clear": true}
	}
	if name != "" {
		o["name"] = name
	}
	text, _ := json.Marshal(o)
	return string(text)
}

// told asks the HTTP API for an object. What is refused is {"reason":…}.
func (b *broker) told(method, path, body string) map[string]any {
	b.Helper()
	_, text := b.ask(method, path, body)
	return b.object(text)
}

// object reads an answer; of a refusal it keeps the reason.
func (b *broker) object(text []byte) map[string]any {
	b.Helper()
	o := map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &o); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
	}
	if o["error"] != nil {
		return map[string]any{"reason": strings.TrimSpace(fmt.Sprint(o["reason"]))}
	}
	delete(o, "ok")
	return o
}

// askVerb runs a verb. What it says of an error is the reason.
func (b *broker) askVerb(args ...string) map[string]any {
	b.Helper()
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), path, append(args, "--formatter", "json")...)
	cmd.Env = append(cmd.Environ(), "CANDLEMARK_HTTP_URL=http://"+b.http)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return map[string]any{"reason": strings.TrimSpace(strings.TrimPrefix(errs.String(), "Error:"))}
	}
	return b.object(out)
}

// askAdmin sends a command to the exchange candlemark.admin.
func (b *broker) askAdmin(key, body string) map[string]any {
	b.Helper()
	c := b.dial()
	const replies = "amq.rabbitmq.reply-to" // no queue that others would count
	deliveries := c.consume(replies, true)
	c.put("candlemark.admin", key, amqp.Publishing{ReplyTo: replies, Body: []byte(body)})
	return b.object(c.next(deliveries).Body)
}

// same asks all interfaces and wants one answer.
func (b *broker) same(what string, ask func(effects) map[string]any) map[string]any {
	b.Helper()
	var first map[string]any
	for _, e := range b.effects() {
		got := ask(e)
		if first == nil {
			first = got
		}
		if x, y := fmt.Sprint(first), fmt.Sprint(got); x != y {
			b.Errorf("%s by %s\n%s\nelsewhere\n%s", what, e.name, y, x)
		}
	}
	return first
}

// TestEffectsThroughEveryInterface: the three interfaces say and refuse the same.
func TestEffectsThroughEveryInterface(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	c.queue("effects", amqp.Table{"x-message-ttl": 90_000, "x-max-length": 5})
	b.request("PUT", "/api/policies/%2F/ttl", `{"pattern":"^effects","definition":{"message-ttl":60000}}`, http.StatusCreated)
	b.request("PUT", "/api/policies/%2F/zz", `{"pattern":"^effects","definition":{"expires":60000}}`, http.StatusCreated)
	b.request("PUT", "/api/operator-policies/%2F/cap", `{"pattern":".*","definition":{"max-length":9}}`, http.StatusCreated)

	x := b.same("explain", func(e effects) map[string]any { return e.explain("queue", "effects") })
	if x["policy"] != "ttl" || x["operator_policy"] != "cap" || len(x["candidates"].([]any)) != 3 || len(x["settings"].([]any)) != 2 {
		b.Errorf("%v", x)
	}
	b.same("explain exchange", func(e effects) map[string]any { return e.explain("exchange", "amq.fanout") })
	if x := b.same("explain nothing", func(e effects) map[string]any { return e.explain("queue", "nowhere") }); x["reason"] != "NOT_FOUND - no queue 'nowhere' in vhost '/'" {
		b.Errorf("%v", x)
	}

	for range 3 {
		c.send("effects", "m")
	}
	p := b.same("preview", func(e effects) map[string]any {
		return e.preview("high", "^eff", `{"max-length":2,"dead-letter-exchange":"x"}`, false)
	})
	if item := p["items"].([]any)[0].(map[string]any); p["hit"] != 1.0 || p["queues_unanswered"] != 0.0 || item["loses_policy"] != "ttl" || item["dropped_at_once"] != 1.0 {
		b.Errorf("%v", p)
	}
	b.same("preview of an operator policy", func(e effects) map[string]any { return e.preview("cap", ".*", `{"max-length":1}`, true) })
	p = b.same("preview of the end", func(e effects) map[string]any { return e.preview("ttl", "", "", false) })
	if item := p["items"].([]any)[0].(map[string]any); item["loses_policy"] != "ttl" || item["policy"] != "zz" || p["replaces"] != true {
		b.Errorf("%v", p)
	}
	b.same("preview of nothing", func(e effects) map[string]any { return e.preview("nowhere", "", "", false) })
	b.same("preview of what is wrong", func(e effects) map[string]any { return e.preview("p", "(", `{"max-length":-1}`, true) })

	q := b.told("GET", "/api/queues/%2F/effects", "")
	if q["next_expiry"] == nil || q["lease_expires_at"] != nil {
		b.Errorf("%v, %v", q["next_expiry"], q["lease_expires_at"])
	}
	b.request("DELETE", "/api/policies/%2F/ttl", "", http.StatusNoContent) // the other one applies, which has a lease
	if q := b.told("GET", "/api/queues/%2F/effects", ""); q["lease_expires_at"] == nil {
		b.Error("a lease and no end of it")
	}
}
