package amqp10

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/httpapi/definitionfile"
	"candlemark/internal/admin/httpapi/servicebus"
	"candlemark/internal/measure/events"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// costlyAction takes some 16,500 steps: 121 of them are permitted.
var costlyAction = strings.TrimSuffix(strings.Repeat("SET a = a + a; ", 32), "; ")

const costlySQL = "<SqlExpression>1=1</SqlExpression></Filter>"

// described is an entry of the administration of Azure Service Bus.
func described(kind, inside string) string {
	return `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">` +
		inside + `</` + kind + `></content></entry>`
}

// costlyRules is a topic with as many costly rules as are permitted, and each way to add another one.
type costlyRules struct {
	*client
	web, atom http.Handler
}

// request sends a request over HTTP, to the administration of Azure Service Bus if the path is in the topic, and returns code and body of the answer.
func (c *costlyRules) request(method, path, body string, header ...string) string {
	c.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	to := c.web
	if strings.HasPrefix(path, "/topic") {
		r.Header.Set("Authorization", sas.New("http://"+r.Host+"/", "guest", "key", time.Now().Add(time.Hour)))
		to = c.atom
	} else {
		r.SetBasicAuth("guest", "guest")
	}
	answer := httptest.NewRecorder()
	to.ServeHTTP(answer, r)
	return fmt.Sprint(answer.Code, " ", answer.Body)
}

// exists lists what there is: bindings, queues, exchanges, policies and parameters.
func (c *costlyRules) exists() []string {
	var all []string
	for _, of := range []string{"bindings", "queues", "exchanges", "policies", "parameters"} {
		_, text, _ := strings.Cut(c.request("GET", "/api/"+of+"?columns=name,source,destination,routing_key", ""), " ")
		var list []struct {
			Name, Source, Destination string
			Key                       string `json:"routing_key"`
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			c.Fatal(err, text)
		}
		for _, one := range list {
			all = append(all, fmt.Sprint(of, one))
		}
	}
	slices.Sort(all)
	return all
}

// TestCostlyRulesAreRefusedEverywhere_DEC19: a rule that would make publishes too expensive is refused in each way to make one, with the
// same text and the code of that way; nothing of it remains, also after a restart.
func TestCostlyRulesAreRefusedEverywhere_DEC19(t *testing.T) {
	refusedEverywhere(t, "cannot bind to exchange 'topic' in vhost '/': the steps of the actions of its rules would be ", func(b *testkit.Bubble, bind func(string) error) {
		for i := 0; bind(fmt.Sprint("rule", i)) == nil; i++ {
		}
	})
}

// TestLargeRulesAreRefusedEverywhere_PRO21: the same for a rule for which there is no memory.
func TestLargeRulesAreRefusedEverywhere_PRO21(t *testing.T) {
	refusedEverywhere(t, "the objects of user 'guest' in virtual host '/' may take at most", func(b *testkit.Bubble, _ func(string) error) {
		var channels [3]*testkit.Channel // opened while there is room; the broker closes two of them
		for i := range channels {
			channels[i] = b.Connect().Open()
		}
		declare := func(ch *testkit.Channel, name string, size int) error {
			_, err := ch.QueueDeclare(name, true, false, false, false, amqp091.Table{"k": strings.Repeat("x", size)})
			return err
		}
		for i := 0; declare(channels[0], fmt.Sprint("large", i), 100_000) == nil; i++ {
		}
		for i := 0; declare(channels[1], fmt.Sprint("small", i), 0) == nil; i++ {
		}
		for i := range 3 { // room for a channel, but not for a rule
			if _, err := channels[2].QueueDelete(fmt.Sprint("small", i), false, false, false); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// refusedEverywhere fills the broker so that another rule is refused with that text, and tries each way.
func refusedEverywhere(t *testing.T, text string, fill func(b *testkit.Bubble, bind func(name string) error)) {
	m := &meter{}
	m.free.Store(1 << 40)
	testkit.RunStored(t, func(c *supervision.Config) {
		c.Alarms = resources.Config{Meter: m, Watermark: config.Amount{Bytes: 20 << 20}, DiskFree: config.Amount{Bytes: 1 << 30}}
	}, func(b *testkit.Bubble) {
		b.Log.Allow("channel exception", "PRECONDITION_FAILED")
		if err := b.Users.SetAccessKeys("guest", sas.Keys{Primary: "key", Secondary: "other"}); err != nil {
			t.Fatal(err)
		}
		c := &costlyRules{connect(b, nil), httpapi.NewHandler(b.Node.API(), b.Users, zerolog.Nop()), servicebus.NewHandler(b.Node.API(), b.Users, "/", false, zerolog.Nop())}
		version := "?api-version=2021-05"
		for _, made := range [][2]string{{"/topic", "TopicDescription"}, {"/topic/Subscriptions/s", "SubscriptionDescription"}, {"/topicless", "QueueDescription"}} {
			if got := c.request("PUT", made[0]+version, described(made[1], "")); !strings.HasPrefix(got, "201 ") {
				t.Fatal(got)
			}
		}
		const queue = "topic/Subscriptions/s"
		requests, own := c.pair(5), *c.client
		own.session = c.begin()
		node := own.node(queue)
		bind := func(name string) error {
			return b.Connect().Open().QueueBind(queue, name, "topic", false, amqp091.Table{"x-rule-action": costlyAction})
		}
		fill(b, bind)
		before := c.exists()
		arguments := fmt.Sprintf(`{"x-rule-action":%q}`, costlyAction)
		document := `{"bindings":[{"source":"topic","vhost":"/","destination":"` + queue + `","destination_type":"queue","routing_key":"more","arguments":` + arguments + `}]}`
		rule := `<Filter i:type="SqlFilter">` + costlySQL + `<Action i:type="SqlRuleAction"><SqlExpression>` + costlyAction + `</SqlExpression></Action>`
		for way, test := range map[string]struct {
			ask  func() string
			code string
		}{
			"0-9-1": {func() string { return bind("more").Error() }, "Exception (406) Reason: \"PRECONDITION_FAILED - "},
			"management of AMQP 1.0": {func() string {
				code, answer := requests.ask("POST", "/bindings", map[string]any{
					"source": "topic", "binding_key": "more", "destination_queue": queue, "arguments": map[string]any{"x-rule-action": costlyAction},
				})
				return fmt.Sprint(code, " ", answer)
			}, "400 "},
			"$management of Service Bus": {func() string {
				return node.status("add-rule", map[string]any{"rule-name": "more", "rule-description": map[string]any{
					"sql-filter": map[string]any{"expression": "1=1"}, "sql-rule-action": map[string]any{"expression": costlyAction},
				}})
			}, "400 "},
			"HTTP": {func() string {
				return c.request("POST", "/api/bindings/%2F/e/topic/q/topic%2FSubscriptions%2Fs", `{"routing_key":"more","arguments":`+arguments+`}`)
			}, "400 "},
			"import":     {func() string { return c.request("POST", "/api/definitions", document) }, "400 "},
			"strict":     {func() string { return c.request("POST", "/api/definitions?strict=true", document) }, "400 "},
			"one vhost":  {func() string { return c.request("POST", "/api/definitions/%2F", document) }, "400 "},
			"at a start": {func() string { return load(b, document) }, "bindings "},
			"Atom": {func() string {
				return c.request("PUT", "/topic/Subscriptions/s/Rules/more"+version, described("RuleDescription", rule))
			}, "400 "},
			"Atom, changed": {func() string {
				return c.request("PUT", "/topic/Subscriptions/s/Rules/$Default"+version, described("RuleDescription", rule), "If-Match", "*")
			}, "400 "},
			"Atom, subscription that forwards": {func() string {
				return c.request("PUT", "/topic/Subscriptions/more"+version, described("SubscriptionDescription", "<DefaultRuleDescription>"+rule+"<Name>more</Name></DefaultRuleDescription><ForwardTo>topicless</ForwardTo>"))
			}, "400 "},
			"Atom, subscription": {func() string {
				return c.request("PUT", "/topic/Subscriptions/more"+version, described("SubscriptionDescription", "<DefaultRuleDescription>"+rule+"<Name>more</Name></DefaultRuleDescription>"))
			}, "400 "},
		} {
			if way == "at a start" && strings.HasPrefix(text, "the objects") {
				continue // not refused
			}
			if got := test.ask(); !strings.HasPrefix(got, test.code) || !strings.Contains(strings.ReplaceAll(got, "&#39;", "'"), text) {
				t.Errorf("%s: %s", way, got)
			}
			if now := c.exists(); !slices.Equal(now, before) {
				t.Errorf("%s: %d objects, %d before:\n%s", way, len(now), len(before), difference(now, before))
			}
		}
		_ = c.conn.Close()
		b.Restart(time.Second)
		c.web = httpapi.NewHandler(b.Node.API(), b.Users, zerolog.Nop())
		if now := c.exists(); !slices.Equal(now, before) {
			t.Errorf("after a restart %d objects, %d before:\n%s", len(now), len(before), difference(now, before))
		}
		if strings.HasPrefix(text, "the objects") {
			return
		}
		more := strings.Replace(document, "{", `{"exchanges":[{"name":"made","vhost":"/","type":"fanout"}],`, 1) // the cost is known last
		if got := c.request("POST", "/api/definitions?strict=true", more); !strings.HasPrefix(got, "400 ") || len(c.exists()) != len(before)+1 {
			t.Error(got)
		}
	})
}

// load imports definitions as a start does.
func load(b *testkit.Bubble, document string) string {
	ctx := events.WithOrigin(context.Background(), &events.Origin{Source: "definitions.json", Interface: events.Settings})
	plan, err := definitionfile.Judge(ctx, b.Node.API(), b.Users, []byte(document), "")
	if err == nil {
		err = definitionfile.Carry(ctx, b.Node.API(), b.Users, auth.User{}, plan)
	}
	if err == nil {
		err = definitionfile.Failure(plan)
	}
	return fmt.Sprint(err)
}

// difference lists the lines of one list only.
func difference(a, b []string) string {
	var all []string
	for i, list := range [...][]string{a, b} {
		for _, line := range list {
			if !slices.Contains([...][]string{b, a}[i], line) {
				all = append(all, line)
			}
		}
	}
	return strings.Join(all, "\n")
}
