package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// effects is one interface to policies and their effects. Answers and refusals are JSON objects, without fields specific to AMQP.
type effects struct {
	name    string
	explain func(kind, name string) map[string]any
	// preview previews a definition, or the removal if it is "".
	preview func(name, pattern, definition string, operator bool) map[string]any
	set     func(name, pattern, definition string, operator bool) map[string]any
	clear   func(name string, operator bool) map[string]any
	list    func(operator bool) []any
	history func() map[string]any
	undo    func(change string) map[string]any
}

// asker is a user, whose password is its name, who makes requests about a virtual host.
type asker struct {
	*broker
	user, vhost string
}

func (b asker) effects() []effects {
	all := []effects{b.overHTTP(), b.byVerbs(), b.overAMQP()}
	for i := range all {
		b.changing(&all[i])
	}
	return all
}

func (b asker) overHTTP() effects {
	return effects{
		name: "http",
		explain: func(kind, name string) map[string]any {
			return b.fetch("GET", fmt.Sprintf("/api/x/%ss/%s/%s/policy", kind, url.PathEscape(b.vhost), name), "")
		},
		preview: func(name, pattern, definition string, operator bool) map[string]any {
			return b.fetch("POST", "/api/x/"+store(operator)+"/"+url.PathEscape(b.vhost)+"/"+name+"/preview", changeOf("", pattern, definition))
		},
	}
}

// store returns the part of a path for policies or operator policies.
func store(operator bool) string {
	if operator {
		return "operator-policies"
	}
	return "policies"
}

// kind returns "policy" or "operator_policy", as in verbs and commands.
func kind(operator bool) string {
	if operator {
		return "operator_policy"
	}
	return "policy"
}

func (b asker) byVerbs() effects {
	return effects{
		name: "command line",
		explain: func(kind, name string) map[string]any {
			if kind == "exchange" {
				return b.object(b.verb("explain_policy", name, "--exchange"))
			}
			return b.object(b.verb("explain_policy", name))
		},
		preview: func(name, pattern, definition string, operator bool) map[string]any {
			if definition == "" {
				return b.object(b.verb("preview_clear_"+kind(operator), name))
			}
			return b.object(b.verb("preview_"+kind(operator), name, pattern, definition))
		},
	}
}

func (b asker) overAMQP() effects {
	return effects{
		name: "amqp",
		explain: func(kind, name string) map[string]any {
			return b.command("policy.explain", fmt.Sprintf(`{%q:%q}`, kind, name))
		},
		preview: func(name, pattern, definition string, operator bool) map[string]any {
			return b.command(kind(operator)+".preview", changeOf(name, pattern, definition))
		},
	}
}

// changing adds the functions by which an interface changes policies and lists changes.
func (b asker) changing(e *effects) {
	vhost := url.PathEscape(b.vhost)
	switch e.name {
	case "http":
		e.set = func(name, pattern, definition string, operator bool) map[string]any {
			return b.fetch("PUT", "/api/"+store(operator)+"/"+vhost+"/"+name, changeOf("", pattern, definition))
		}
		e.clear = func(name string, operator bool) map[string]any {
			return b.fetch("DELETE", "/api/"+store(operator)+"/"+vhost+"/"+name, "")
		}
		e.list = func(operator bool) []any {
			_, text := b.askAs(b.user, "GET", "/api/"+store(operator)+"/"+vhost, "")
			return b.policies(text)
		}
		e.history = func() map[string]any { return b.fetch("GET", "/api/x/policy-history/"+vhost, "") }
		e.undo = func(change string) map[string]any {
			return b.fetch("POST", "/api/x/policy-history/"+vhost+"/"+change+"/undo", "")
		}
	case "command line":
		e.set = func(name, pattern, definition string, operator bool) map[string]any {
			return b.object(b.verb("set_"+kind(operator), name, pattern, definition))
		}
		e.clear = func(name string, operator bool) map[string]any {
			return b.object(b.verb("clear_"+kind(operator), name))
		}
		e.list = func(operator bool) []any {
			return b.policies(b.verb("list_" + strings.Replace(kind(operator), "policy", "policies", 1)))
		}
		e.history = func() map[string]any { return b.object(b.verb("list_policy_history")) }
		e.undo = func(change string) map[string]any { return b.object(b.verb("undo_policy_change", change)) }
	case "amqp":
		e.set = func(name, pattern, definition string, operator bool) map[string]any {
			o := b.command(kind(operator)+".set", changeOf(name, pattern, definition))
			delete(o, "replaced") // HTTP reports it by its status, the command line not at all
			return o
		}
		e.clear = func(name string, operator bool) map[string]any {
			return b.command(kind(operator)+".clear", fmt.Sprintf(`{"name":%q}`, name))
		}
		e.list = func(operator bool) []any {
			text, _ := json.Marshal(b.command(kind(operator)+".list", "")["policies"])
			return b.policies(text)
		}
		e.history = func() map[string]any { return b.command("policy.history", "") }
		e.undo = func(change string) map[string]any { return b.command("policy.undo", fmt.Sprintf(`{"id":%q}`, change)) }
	}
}

// changeOf returns a policy, or its removal, as JSON; with a name unless name is empty.
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

// fetch sends a request to the HTTP API and returns the object in its answer.
func (b asker) fetch(method, path, body string) map[string]any {
	b.Helper()
	_, text := b.askAs(b.user, method, path, body)
	return b.object(text)
}

// object decodes an answer; of a refusal it keeps the reason.
func (b asker) object(text []byte) map[string]any {
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

// policies decodes a list of policies; the command line has definitions as strings (POL-17).
func (b asker) policies(text []byte) (list []any) {
	b.Helper()
	var all []map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		b.Fatalf("%s: %v", text, err)
	}
	for _, p := range all {
		if text, is := p["definition"].(string); is {
			var definition any
			if err := json.Unmarshal([]byte(text), &definition); err != nil {
				b.Fatal(err)
			}
			p["definition"] = definition
		}
		list = append(list, p)
	}
	return list
}

// verbFailed removes the text that the command line adds to a reason, or translates its own (POL-18).
var verbFailed = strings.NewReplacer("Error:\n", "", "Parameter does not exist", "Not Found")

// verb runs a command-line verb. An error contains its output.
func (b asker) verb(args ...string) []byte {
	b.Helper()
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), path, append(args, "--formatter", "json", "-q", "-p", b.vhost)...)
	cmd.Env = append(cmd.Environ(), "CANDLEMARK_HTTP_URL=http://"+b.user+":"+b.user+"@"+b.http)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		_, reason, refused := strings.Cut(errs.String(), "Access refused by http://"+b.http+": ")
		if !refused {
			reason = verbFailed.Replace(errs.String())
		}
		out, _ = json.Marshal(map[string]string{"error": "refused", "reason": reason})
	}
	return out
}

// command sends a command to the exchange candlemark.admin.
func (b asker) command(key, body string) map[string]any {
	b.Helper()
	c := b.dialWith(amqp.Config{Vhost: b.vhost, SASL: []amqp.Authentication{&amqp.PlainAuth{Username: b.user, Password: b.user}}})
	const replies = "amq.rabbitmq.reply-to" // no queue that would be counted by other requests
	deliveries := c.consume(replies, true)
	c.put("candlemark.admin", key, amqp.Publishing{ReplyTo: replies, Body: []byte(body)})
	return b.object(c.next(deliveries).Body)
}

// same makes a request by all interfaces and checks that the answers are equal.
func (b asker) same(what string, ask func(effects) map[string]any) map[string]any {
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

// TestEffectsThroughEveryInterface: the three interfaces give the same answers and refusals.
func TestEffectsThroughEveryInterface(t *testing.T) {
	t.Parallel()
	b := asker{start(t), "guest", "/"}
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

	q := b.fetch("GET", "/api/queues/%2F/effects", "")
	if q["next_expiry"] == nil || q["lease_expires_at"] != nil {
		b.Errorf("%v, %v", q["next_expiry"], q["lease_expires_at"])
	}
	b.request("DELETE", "/api/policies/%2F/ttl", "", http.StatusNoContent) // now the other policy applies, which has a lease
	if q := b.fetch("GET", "/api/queues/%2F/effects", ""); q["lease_expires_at"] == nil {
		b.Error("a lease and no end of it")
	}
}

// TestPoliciesThroughEveryInterface_POL21: the three interfaces set, list, clear and undo policies, show their history, and
// refuse requests, alike; a change made by one can be undone by another, also after the broker has been killed.
func TestPoliciesThroughEveryInterface_POL21(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	b.request("PUT", "/api/users/pat", `{"password":"pat","tags":"policymaker"}`, http.StatusCreated)
	vhosts := []string{"vhost-a", "vhost-b", "vhost-c"} // one for each interface, so that the changes of each are counted from 1
	var first string
	for i, vhost := range vhosts {
		for _, user := range []string{"guest", "pat"} {
			b.request("PUT", "/api/vhosts/"+vhost, "", map[string]int{"guest": http.StatusCreated, "pat": http.StatusNoContent}[user])
			b.request("PUT", "/api/permissions/"+vhost+"/"+user, `{"configure":".*","write":".*","read":".*"}`, map[string]int{"guest": http.StatusNoContent, "pat": http.StatusCreated}[user])
		}
		e := asker{b, "guest", vhost}.effects()[i]
		transcript := strings.ReplaceAll(strings.Join(policyChanges(e, asker{b, "pat", vhost}.effects()[i]), "\n"), vhost, "VHOST")
		if first == "" {
			first = transcript
		}
		if transcript != first {
			t.Errorf("by %s\n%s\nelsewhere\n%s", e.name, transcript, first)
		}
	}
	for _, want := range []string{
		`set again: map[]`, `change 1: map[reason:policy 'ttl' has changed since change 1: see change 4]`,
		`change 3 by pat: map[reason:Not administrator user]`, `change 2: map[change:8 undone:2]`, `change 99: map[reason:no change 99 in the history of policies of vhost 'VHOST']`,
		`clear nothing: map[reason:Not Found]`,
	} {
		if !strings.Contains(first, want+"\n") {
			t.Errorf("no line %q in\n%s", want, first)
		}
	}
	for change, status := range map[string]int{"2": http.StatusConflict, "99": http.StatusNotFound, "x": http.StatusBadRequest} {
		b.request("POST", "/api/x/policy-history/vhost-a/"+change+"/undo", "", status)
	}
	if status, _ := b.askAs("pat", "POST", "/api/x/policy-history/vhost-a/7/undo", ""); status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
	if o := b.verb(65, "undo_policy_change", "99", "-p", "vhost-b", "-q"); !strings.Contains(o, "no change 99") {
		t.Error(o)
	}
	b.kill()
	b = startIn(t, dir)
	for i, vhost := range vhosts {
		e := asker{b, "guest", vhost}.effects()
		other := e[(i+1)%len(e)]
		if n := len(other.history()["changes"].([]any)); n != 8 {
			t.Errorf("%d changes in %s", n, vhost)
		}
		if o := other.undo("8"); o["change"] != 9.0 {
			t.Errorf("%v", o)
		}
	}
}

// policyChanges makes 8 policy changes by one interface, as an administrator and as a policymaker, and returns all answers.
func policyChanges(e, pat effects) (transcript []string) {
	record := func(what string, answer any) { transcript = append(transcript, fmt.Sprint(what, ": ", answer)) }
	record("set", e.set("ttl", "^q", `{"message-ttl":60000}`, false))                 // 1
	record("set another value", pat.set("ttl", "^q", `{"message-ttl":90000}`, false)) // 2
	record("set again", e.set("ttl", "^q", `{"message-ttl":90000}`, false))
	record("set operator policy", e.set("cap", ".*", `{"max-length":9}`, true)) // 3
	record("set operator policy by pat", pat.set("cap", ".*", `{"max-length":8}`, true))
	record("set what is wrong", e.set("p", "(", `{"max-length":-1}`, false))
	record("policies", e.list(false))
	record("operator policies", pat.list(true))
	record("clear", e.clear("ttl", false)) // 4
	record("clear nothing", e.clear("ttl", false))
	record("change 1", e.undo("1"))
	record("change 4", pat.undo("4")) // 5
	record("change 4 again", e.undo("4"))
	record("change 3 by pat", pat.undo("3"))
	record("change 3", e.undo("3")) // 6
	record("change 6", e.undo("6")) // 7
	record("change 2", e.undo("2")) // 8
	record("change 99", e.undo("99"))
	record("change x", e.undo("x"))
	record("policies at last", append(e.list(false), e.list(true)...))
	changes := pat.history()["changes"].([]any)
	slices.Reverse(changes)
	for _, c := range changes {
		change := c.(map[string]any)
		if change["interface"] != e.name || change["time"] == nil {
			record("wrong interface or time", change)
		}
		delete(change, "interface")
		delete(change, "time")
		record("history", change)
	}
	return transcript
}
