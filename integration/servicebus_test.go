package integration

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/sas"

	amqp "github.com/rabbitmq/amqp091-go"
)

const sampleConfig = "../internal/admin/configfile/testdata/Config.json"

// atom makes a request to the administration API with a token signed with a key unknown to the broker.
func (b *broker) atom(method, path, body string, match bool) (status int, text string) {
	b.Helper()
	return b.atomAs("RootManageSharedAccessKey", "SAS_KEY_VALUE", method, path, body, match)
}

// atomAs makes a request with a token signed with a key.
func (b *broker) atomAs(name, key, method, path, body string, match bool) (status int, text string) {
	b.Helper()
	r, err := http.NewRequest(method, "http://"+b.log.address("Service Bus listener started")+"/"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", sas.New("http://localhost/", name, key, time.Now().Add(time.Hour)))
	if match {
		r.Header.Set("If-Match", "*")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	return answer.StatusCode, string(all)
}

// asked returns the answer of the HTTP API, with any status.
func (b *broker) asked(path string) string {
	b.Helper()
	_, text := b.ask(http.MethodGet, path, "")
	return string(text)
}

// element returns the text of an XML element.
func element(text, name string) string {
	if m := regexp.MustCompile(`<(?:\w+:)?` + name + `(?: [^>]*)?>([^<]*)<`).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// The entities of the emulator's configuration file exist after each start, as described there, and RabbitMQ's clients can use
// them.
func TestServiceBusConfig(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text, err := os.ReadFile(sampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "Config.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--servicebus-config", file, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator"}
	write(string(text))
	data := filepath.Join(folder, "data")
	var created string
	t.Run("first", func(t *testing.T) {
		b := startIn(t, data, flags...)
		_, got := b.atom("GET", "orders", "", false)
		created = element(got, "CreatedAt")
		for name, want := range map[string]string{
			"LockDuration": "PT1M", "MaxDeliveryCount": "3", "DefaultMessageTimeToLive": "PT1H", "DeadLetteringOnMessageExpiration": "true", "Status": "Active",
			"ForwardDeadLetteredMessagesTo": "https://" + b.log.address("Service Bus listener started") + "/failures",
		} {
			if element(got, name) != want {
				t.Errorf("%s is %q, want %q\n%s", name, element(got, name), want, got)
			}
		}
		ch := b.dial()
		for _, color := range []string{"red", "blue"} {
			err := ch.Publish("events", "any", false, false, amqp.Publishing{Headers: amqp.Table{"color": color}, DeliveryMode: 2, Body: []byte(color)})
			if err != nil {
				t.Fatal(err)
			}
		}
		for path, want := range map[string]string{"events/Subscriptions/all": "2", "events/subscriptions/ALL": "2", "orders": "1", "events/Subscriptions/red": "0"} {
			eventually(t, path, func() bool {
				_, got := b.atom("GET", path, "", false)
				return element(got, "ActiveMessageCount") == want
			})
		}
	})
	write(strings.Replace(string(text), `"MaxDeliveryCount": 3`, `"MaxDeliveryCount": 7`, 1))
	b := startIn(t, data, flags...)
	_, got := b.atom("GET", "orders", "", false)
	if seen := [3]string{element(got, "MaxDeliveryCount"), element(got, "ActiveMessageCount"), element(got, "CreatedAt")}; seen != [3]string{"7", "1", created} {
		t.Errorf("%q, created %s", seen, created)
	}
	_, got = b.atom("GET", "events/Subscriptions/red/Rules", "", false)
	if n := strings.Count(got, "<entry"); n != 2 || !strings.Contains(got, `i:type="CorrelationFilter"`) || !strings.Contains(got, "<SqlExpression>color = 'red'<") {
		t.Errorf("%d rules in %s", n, got)
	}
}

func described(kind, inside string) string {
	return `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">` +
		inside + `</` + kind + `></content></entry>`
}

// The administration API creates, changes, lists and deletes entities.
func TestServiceBusAdministration(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	const nothing = "Publicly Listed Services"
	sql := func(text string) string {
		return described("RuleDescription", `<Filter i:type="SqlFilter"><SqlExpression>`+text+`</SqlExpression></Filter>`)
	}
	for _, step := range []struct {
		method, path, body string
		match              bool
		status             int
		want               string
	}{
		{"GET", "health", "", false, 200, `"status":"healthy"`},
		{"GET", "q", "", false, 200, nothing},
		{"PUT", "q", described("QueueDescription", "<LockDuration>PT30S</LockDuration>"), false, 201, "<LockDuration>PT30S</LockDuration>"},
		{"PUT", "Q", described("QueueDescription", ""), false, 409, "SubCode=40900"},
		{"PUT", "q", described("QueueDescription", "<LockDuration>PT2M</LockDuration><UserMetadata>mine</UserMetadata>"), true, 200, "<UserMetadata>mine</UserMetadata>"},
		{"PUT", "q", described("QueueDescription", "<RequiresDuplicateDetection>true</RequiresDuplicateDetection>"), true, 400, "The value for the RequiresDuplicateDetection property of an existing Queue cannot be changed."},
		{"PUT", "q", described("QueueDescription", "<EnablePartitioning>true</EnablePartitioning>"), true, 400, "Partitioning cannot be changed for Queue. "},
		{"PUT", "none", described("QueueDescription", ""), true, 404, "SubCode=40400"},
		{"PUT", "bad", described("QueueDescription", "<MaxDeliveryCount>0</MaxDeliveryCount>"), false, 400, "MaxDeliveryCount is 0"},
		{"PUT", "bad", described("QueueDescription", "<ForwardTo>nowhere</ForwardTo>"), false, 400, "nowhere"},
		{"PUT", "a b", described("QueueDescription", ""), false, 400, "character"},
		{"PUT", "t", described("TopicDescription", ""), false, 201, "<SubscriptionCount>0</SubscriptionCount>"},
		{"PUT", "t", described("QueueDescription", ""), false, 409, "SubCode=40900"},
		{"PUT", "t/Subscriptions/s", described("SubscriptionDescription", ""), false, 201, "<MaxDeliveryCount>10</MaxDeliveryCount>"},
		{"PUT", "none/Subscriptions/s", described("SubscriptionDescription", ""), false, 404, "SubCode=40400"},
		{"GET", "t/Subscriptions/s/Rules", "", false, 200, "<Name>$Default</Name>"},
		{"PUT", "t/Subscriptions/s/Rules/r", sql("a = 1"), false, 201, "a = 1"},
		{"PUT", "t/Subscriptions/s/Rules/r", sql("a = 1"), false, 409, ""},
		{"PUT", "t/Subscriptions/s/Rules/r", sql("a = 2"), true, 200, "a = 2"},
		{"PUT", "t/Subscriptions/s/Rules/bad", sql("a = "), false, 400, "at character 5"},
		{"DELETE", "t/Subscriptions/s/Rules/$Default", "", false, 200, ""},
		{"GET", "t/Subscriptions/s/Rules/$Default", "", false, 200, nothing},
		{"GET", "t/Subscriptions/s/Rules/R", "", false, 200, "a = 2"},
		{"GET", "t/Subscriptions", "", false, 200, `<title type="text">s</title>`},
		{"GET", "$Resources/Topics", "", false, 200, "<SubscriptionCount>1</SubscriptionCount>"},
		{"GET", "$Resources/Queues?$skip=0&$top=10", "", false, 200, "<LockDuration>PT2M</LockDuration>"},
		{"GET", "$namespaceinfo", "", false, 200, "<NamespaceType>Messaging</NamespaceType>"},
		{"DELETE", "t", "", false, 200, ""},
		{"GET", "t/Subscriptions/s", "", false, 200, nothing},
		{"DELETE", "q", "", false, 200, ""},
		{"DELETE", "q", "", false, 404, ""},
		{"POST", "q", "", false, 404, ""},
		{"GET", "q%3Fx", "", false, 400, ""},
		{"GET", "x:%2F%2Fhost/q", "", false, 400, ""},
	} {
		status, got := b.atom(step.method, strings.ReplaceAll(step.path, " ", "%20"), step.body, step.match)
		if step.method == "POST" {
			step.status = 400
		}
		if status != step.status || !strings.Contains(got, step.want) {
			t.Errorf("%s %s: %d %s\nwant %d %s", step.method, step.path, status, got, step.status, step.want)
		}
	}
	for what, answer := range map[string]string{"policies": "/api/policies", "parameters": "/api/parameters", "queues": "/api/queues"} {
		if got := b.asked(answer); got != "[]" {
			t.Errorf("%s are left: %s", what, got)
		}
	}
}

// A request is limited to 256 KiB, a feed to 100 entities.
func TestServiceBusAdministrationIsBounded(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	if status, got := b.atom("PUT", "big", strings.Repeat(" ", 256<<10+1), false); status != http.StatusRequestEntityTooLarge {
		t.Error(status, got)
	}
	for i := range 101 {
		if status, got := b.atom("PUT", "q"+strconv.Itoa(i), described("QueueDescription", ""), false); status != 201 {
			t.Fatal(status, got)
		}
	}
	for query, want := range map[string]int{"?$top=1000": 100, "": 100, "?$skip=100": 1, "?$top=7": 7} {
		if _, got := b.atom("GET", "$Resources/Queues"+query, "", false); strings.Count(got, "<entry") != want {
			t.Errorf("%q: %d entities", query, strings.Count(got, "<entry"))
		}
	}
	query, found := "?api-version=2021-05", 0
	for query != "" {
		_, got := b.atom("GET", "$Resources/Queues"+query, "", false)
		found, query = found+strings.Count(got, "<entry"), ""
		if m := regexp.MustCompile(`<link rel="next" href="[^"?]*/\$Resources/Queues(\?[^"]*)"`).FindStringSubmatch(got); m != nil {
			query = strings.ReplaceAll(m[1], "&amp;", "&")
			if !strings.Contains(query, "api-version=2021-05") {
				t.Error(query)
			}
		}
	}
	if found != 101 {
		t.Errorf("%d entities by links", found)
	}
}

// Definitions transfer entities, rules and access keys to another broker.
func TestServiceBusDefinitions(t *testing.T) {
	t.Parallel()
	one := start(t, "--servicebus-config", sampleConfig, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	one.put("/api/x/access-keys/%2F/app", `{"rights":["send"],"primary_key":"secret of app"}`)
	all := one.asked("/api/definitions")
	other := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	other.put("/api/definitions", all)
	for _, path := range []string{"orders", "events", "events/Subscriptions/red", "events/Subscriptions/red/Rules"} {
		_, want := one.atom("GET", path, "", false)
		_, got := other.atom("GET", path, "", false)
		for _, name := range []string{"LockDuration", "MaxDeliveryCount", "DefaultMessageTimeToLive", "CreatedAt", "SqlExpression", "Label"} {
			if element(want, name) != element(got, name) {
				t.Errorf("%s of %s: %q, want %q", name, path, element(got, name), element(want, name))
			}
		}
	}
	if got := other.asked("/api/x/access-keys/%2F/app"); got != one.asked("/api/x/access-keys/%2F/app") || !strings.Contains(got, "secret of app") {
		t.Error(got)
	}
}

// Without the emulator's setting a token must be signed with a key of the broker.
func TestServiceBusWantsAKey(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	if status, got := b.atom("GET", "q", "", false); status != 401 || strings.Contains(got, "SAS") {
		t.Error(status, got)
	}
}

// A user that may configure only its own queues cannot forward to others' queues, as in a declare over 0-9-1 (DL-3).
func TestServiceBusForwardingIsPublishing(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"key of root"}`)
	b.put("/api/x/access-keys/%2F/one", `{"rights":["manage"],"primary_key":"key of one"}`)
	b.put("/api/permissions/%2F/one", `{"configure":"^mine","write":"^mine","read":"^mine"}`)
	for _, name := range []string{"payroll", "mine"} {
		if status, got := b.atomAs("root", "key of root", "PUT", name, described("QueueDescription", ""), false); status != 201 {
			t.Fatal(status, got)
		}
	}
	if status, got := b.atomAs("root", "key of root", "PUT", "news", described("TopicDescription", ""), false); status != 201 {
		t.Fatal(status, got)
	}
	for inside, want := range map[string]int{
		"<MaxDeliveryCount>3</MaxDeliveryCount>":                                 200,
		"<ForwardTo>payroll</ForwardTo>":                                         401,
		"<ForwardTo>news</ForwardTo>":                                            401,
		"<ForwardDeadLetteredMessagesTo>payroll</ForwardDeadLetteredMessagesTo>": 401,
		"<ForwardDeadLetteredMessagesTo>news</ForwardDeadLetteredMessagesTo>":    401,
	} {
		if status, got := b.atomAs("one", "key of one", "PUT", "mine", described("QueueDescription", inside), true); status != want {
			t.Errorf("%s: %d %s", inside, status, got)
		}
	}
}

// TestServiceBusDelete_Rights: an entity is deleted with everything that belongs to it, and the deletion needs permission for all
// of it; without permission nothing is deleted.
func TestServiceBusDelete_Rights(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	for name, configure := range map[string]string{"all": ".*", "one": "^(one|two)$"} {
		b.put("/api/x/access-keys/%2F/"+name, `{"rights":["manage"],"primary_key":"key"}`)
		b.put("/api/permissions/%2F/"+name, `{"configure":"`+configure+`","write":".*","read":".*"}`)
	}
	elsewhere := "<ForwardDeadLetteredMessagesTo>two</ForwardDeadLetteredMessagesTo>"
	for _, c := range []struct {
		by, method, path, properties string
		status                       int
	}{
		{"all", "PUT", "two", "", 201},
		{"one", "PUT", "one", elsewhere, 201},
		{"one", "DELETE", "one", "", 200},
		{"one", "PUT", "one", elsewhere, 201},
		{"all", "PUT", "forwards", "<ForwardTo>one</ForwardTo>", 201},
		{"one", "DELETE", "one", "", 401}, // its forward exchange exists, which this user may not configure
		{"one", "DELETE", "two", "", 401}, // its dead-letter queue exists, which this user may not configure
		{"all", "GET", "one", "", 200},
		{"all", "GET", "two", "", 200},
		{"all", "DELETE", "forwards", "", 200},
		{"all", "DELETE", "one", "", 200},
		{"all", "DELETE", "two", "", 200},
	} {
		body := ""
		if c.method == "PUT" {
			body = described("QueueDescription", c.properties)
		}
		if status, got := b.atomAs(c.by, "key", c.method, c.path, body, false); status != c.status {
			t.Fatalf("%s of %s by %s: %d %s", c.method, c.path, c.by, status, got)
		}
	}
	left := b.request("GET", "/api/queues?columns=name", "", 200) + b.request("GET", "/api/exchanges?columns=name", "", 200)
	for _, name := range []string{"one", "two", "forwards"} {
		if strings.Contains(left, name) {
			t.Errorf("something of %s is left: %s", name, left)
		}
	}
}

// A key without the right to manage can neither read nor change anything, nor can a key with that right elsewhere only,
// even by writing the name of an entity in another case.
func TestServiceBusAdministration_Rights(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	for name, rights := range map[string]string{"sender": `"send"`, "listener": `"listen"`, "both": `"send","listen"`, "manager": `"manage"`, "elsewhere": `"manage"`, "folded": `"manage"`} {
		b.put("/api/x/access-keys/%2F/"+name, `{"rights":[`+rights+`],"primary_key":"key of `+name+`"}`)
	}
	b.put("/api/permissions/%2F/elsewhere", `{"configure":"^other","write":".*","read":".*"}`)
	b.put("/api/permissions/%2F/folded", `{"configure":"^(q|t|[$].*|Q2.*)","write":".*","read":".*"}`)
	for _, made := range [][2]string{{"Q", "QueueDescription"}, {"T", "TopicDescription"}, {"T/Subscriptions/S", "SubscriptionDescription"}} {
		if status, got := b.atomAs("manager", "key of manager", "PUT", made[0], described(made[1], ""), false); status != 201 {
			t.Fatal(status, got)
		}
	}
	rule := described("RuleDescription", `<Filter i:type="TrueFilter"></Filter>`)
	for _, c := range []struct {
		method, path, body string
		match              bool
		manager            int
	}{
		{"GET", "q", "", false, 200},
		{"GET", "t", "", false, 200},
		{"GET", "t/Subscriptions/s", "", false, 200},
		{"GET", "t/Subscriptions", "", false, 200},
		{"GET", "t/subscriptions/s/rules", "", false, 200},
		{"GET", "t/subscriptions/s/rules/$Default", "", false, 200},
		{"PUT", "q", described("QueueDescription", "<LockDuration>PT30S</LockDuration>"), true, 200},
		{"PUT", "t/subscriptions/s/rules/r", rule, false, 201},
		{"DELETE", "t/subscriptions/s/rules/r", "", false, 200},
		{"DELETE", "t/subscriptions/s", "", false, 200},
		{"DELETE", "t", "", false, 200},
		{"DELETE", "q", "", false, 200},
	} {
		for _, key := range []string{"sender", "listener", "both", "elsewhere", "folded", "manager"} {
			want := 401
			if key == "manager" {
				want = c.manager
			}
			words := "<Detail>401 SubCode=40100: Unauthorized : "
			if c.method == "GET" && len(c.path) == 1 {
				words = "<Detail>Manage,EntityRead claims required for this operation."
			}
			if status, got := b.atomAs(key, "key of "+key, c.method, c.path, c.body, c.match); status != want || want == 401 && !strings.Contains(got, words) ||
				want == 401 && c.path == "t/Subscriptions/s" && c.method == "GET" && !strings.Contains(got, "Unauthorized access for 'GetSubscription' operation") {
				t.Errorf("%s of %s by %s: %d %s", c.method, c.path, key, status, got)
			}
		}
	}
	if status, got := b.atomAs("sender", "key of sender", "PUT", "new", described("QueueDescription", ""), false); status != 401 || !strings.Contains(got, "Authorization failed for specified action: Manage,EntityWrite.") {
		t.Error(status, got)
	}
}
