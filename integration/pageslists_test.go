package integration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	amqp "github.com/rabbitmq/amqp091-go"
)

// called connects with a client-provided name.
func (b *broker) called(name string) *client {
	b.Helper()
	return b.dialWith(amqp.Config{Properties: amqp.Table{"connection_name": name, "product": "shop " + name}})
}

// at changes to an address of the pages without reloading.
func (w *tab) at(address string) {
	w.Helper()
	_ = eval[bool](w, fmt.Sprintf("(location.hash = %q, true)", address))
}

// opens clicks a button that opens a dialog and waits for the dialog.
func (w *tab) opens(button string) {
	w.Helper()
	w.click("button", button)
	w.until("document.querySelector('dialog[open]') !== null")
}

// Connections, channels and consumers are as in the API; a connection is closed with the entered reason.
func TestPagesOfClients(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.called("worker")
	b.called("other")
	c.must(c.Qos(7, 0, false))
	c.queue("jobs", nil)
	_, err := c.Consume("jobs", "tag-1", false, false, false, false, nil)
	c.must(err)
	w := br.open(b, "#/connections").asGuest()
	w.until("document.querySelectorAll('.items tbody tr').length === 2")
	if got := w.rows("given"); !slices.Contains(got, "worker") || !slices.Contains(got, "other") {
		t.Error(got)
	}
	w.click("thead button", "Client name")
	w.until("document.querySelector('.items tbody [data-column=given]').textContent === 'other'")
	w.click("nav a", "Channels")
	w.until("document.querySelectorAll('.items tbody tr').length === 2")
	if got := w.rows("prefetch"); !slices.Contains(got, "7") {
		t.Error(got)
	}
	w.click("nav a", "Consumers")
	w.sees("tag-1")
	w.fill("input[type=search]", "tag-2")
	w.sees("Nothing matches.")
	w.fill("input[type=search]", "")
	w.sees("tag-1")
	_ = eval[bool](w, "(document.querySelector('[data-column=channel] a').click(), true)")
	w.sees("7 per consumer")
	w.sees("tag-1")
	_ = eval[bool](w, "(document.querySelector('.factgrid a').click(), true)")
	w.sees("shop worker")
	w.sees("publisher_confirms")
	closed := c.conn.NotifyClose(make(chan *amqp.Error, 1))
	w.click("button", "Close connection…")
	w.sees("of guest, with 1 channel.")
	w.fill("dialog input[name=reason]", "maintenance tonight")
	w.click("dialog button", "Close")
	w.until("location.hash === '#/connections' && document.querySelectorAll('.items tbody tr').length === 1")
	select {
	case e := <-closed:
		if e == nil || e.Code != 320 || !strings.Contains(e.Reason, "maintenance tonight") {
			t.Error(e)
		}
	case <-time.After(4 * patience):
		t.Error("the client did not receive the reason")
	}
}

// Exchanges are declared, bound, unbound and deleted; refusals of the broker are shown unchanged.
func TestPageExchanges(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.dial().queue("jobs", nil)
	w := br.open(b, "#/exchanges").asGuest()
	w.sees("(AMQP default)")
	w.opens("Add exchange…")
	w.fill("dialog input[name=name]", "a/b %2F")
	w.fill("dialog textarea", `{"alternate-exchange": "amq.fanout"}`)
	w.click("dialog button", "Add")
	w.until("document.querySelector('dialog') === null")
	w.click("a.name", "a/b %2F")
	w.sees(`{"alternate-exchange":"amq.fanout"}`)
	w.sees("Nothing is bound to it.")
	w.opens("Add binding…")
	w.refused = []string{"/nothing", "exchanges/%2F/a"}
	w.fill("dialog input[name=destination]", "nothing")
	w.click("dialog button", "Bind")
	w.until("document.querySelector('dialog .error')?.textContent > ''")
	w.fill("dialog input[name=destination]", "jobs")
	w.fill("dialog input[name=key]", "k/e%20y #")
	w.fill("dialog textarea", `{"x": 1}`)
	w.click("dialog button", "Bind")
	w.until("document.querySelector('dialog') === null")
	w.sees("k/e%20y #")
	w.shoot("exchange")
	w.click("button", "Delete exchange…")
	w.sees("1 binding from it now")
	w.click("dialog button", "Delete")
	w.until("document.querySelector('dialog .error')?.textContent > ''") // the exchange is in use
	w.click("dialog button", "Cancel")
	w.click("button", "Unbind…")
	w.click("dialog button", "Unbind")
	w.sees("Nothing is bound to it.")
	w.click("button", "Delete exchange…")
	w.click("dialog button", "Delete")
	w.until("location.hash === '#/exchanges' && document.querySelector('.items tbody tr') !== null")
	b.request("GET", "/api/exchanges/%2F/a%2Fb%20%252F", "", 404)
	w.at("#/exchanges/%2F/amq.default")
	w.sees("implicit")
	if strings.Contains(w.text(), "Delete exchange") {
		t.Error("the default exchange can be deleted")
	}
}

// The editor of a policy shows its effect before it is set, and a change is undone.
func TestPagePolicies(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	for i := range 3 {
		c.queue(fmt.Sprint("orders", i), nil)
	}
	c.send("orders0", "a", "b", "c", "d")
	b.request("PUT", "/api/policies/%2F/old", `{"pattern":"^orders","definition":{"max-length":100},"apply-to":"queues"}`, 201)
	b.request("PUT", "/api/operator-policies/%2F/cap", `{"pattern":"^orders[01]","definition":{"max-length":1000},"apply-to":"queues"}`, 201)
	w := br.open(b, "#/policies").asGuest()
	w.until("[...document.querySelectorAll('[data-column=count]')].map((e) => e.textContent).join() === '3,2'")
	w.opens("Add policy…")
	w.refused = []string{"preview", "undo"}
	w.fill("dialog input[name=name]", "new")
	w.fill("dialog input[name=pattern]", "^orders(")
	w.fill("dialog .rows input", "max-length")
	w.fill("dialog .rows input:nth-child(2)", "1")
	w.until("document.querySelector('dialog fieldset ~ .error')?.textContent > ''") // not a regular expression
	if !eval[bool](w, "document.querySelector('dialog button[type=submit]').disabled") {
		t.Error("it can be set without a preview")
	}
	w.fill("dialog input[name=pattern]", "^orders[012]")
	w.fill("dialog input[name=priority]", "5")
	w.sees("No longer applies: policy old, for 3 objects.")
	w.sees("Dropped at once by the length limit: 3 messages.")
	w.shoot("policy-editor")
	_ = eval[bool](w, "(document.querySelector('dialog fieldset input[type=checkbox]').click(), true)")
	w.fill("dialog textarea", `{"message-ttl": 86400000, "message-ttl-retroactive": true}`)
	w.sees("Deadline changes: 4 messages.")
	w.click("dialog button", "Set policy")
	w.until("document.querySelector('dialog') === null")
	w.until("[...document.querySelectorAll('[data-column=count]')].map((e) => e.textContent).toSorted().join('|') === \"0: matches 3 queues, applies to none; shadowed by 'new'|2|3\"")
	shadowed(w)
	if got := b.request("GET", "/api/queues/%2F/orders0?columns=policy,messages,messages_expiring", "", 200); got != `{"messages":4,"messages_expiring":4,"policy":"new"}` {
		t.Error(got)
	}
	w.at("#/policies/explain/%2F/queue/orders0")
	w.sees("its pattern matches, and no other matching policy takes precedence")
	w.shoot("policy-explain")
	w.at("#/policies/history/%2F")
	w.sees("policy new set: “^orders[012]”, all, priority 5")
	w.shoot("policy-history")
	w.click("button", "Undo")
	w.sees("Change 3 was undone by change 4.")
	b.request("GET", "/api/policies/%2F/new", "", 404)
	w.until("document.querySelectorAll('.part tbody tr').length === 4")
	_ = eval[bool](w, "([...document.querySelectorAll('.part button')][1].click(), true)") // undo change 3 again
	w.sees("Change 3 was not undone: ")
	w.click("nav a", "Policies")
	w.until("[...document.querySelectorAll('[data-column=count]')].map((e) => e.textContent).join() === '3,2'")
	w.click(".items button", "Delete…")
	w.sees("Applies to 3 queues now.")
	w.click("dialog button", "Delete")
	w.until("document.querySelector('dialog') === null && document.querySelectorAll('.items tbody tr').length === 1")
}

// shadowed previews a policy that another one shadows for all of its objects.
func shadowed(w *tab) {
	w.Helper()
	w.shoot("policies-shadowed")
	w.opens("Add policy…")
	w.fill("dialog input[name=name]", "late")
	w.fill("dialog input[name=pattern]", "^orders")
	w.fill("dialog .rows input", "expires")
	w.fill("dialog .rows input:nth-child(2)", "5400000")
	w.sees("Without effect: matches 3 queues, applies to none; shadowed by 'new'.")
	w.click("dialog button", "Cancel")
}

// A user with the tag management sees its own objects, and is offered no action that its tags do not permit.
func TestListsOfOtherUsers(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/users/man", `{"password":"p","tags":"management"}`, 201)
	b.request("PUT", "/api/permissions/%2F/man", `{"configure":"","write":"","read":""}`, 201)
	b.request("PUT", "/api/policies/%2F/old", `{"pattern":"^orders","definition":{"max-length":100}}`, 201)
	b.called("of guest")
	w := br.open(b, "#/connections")
	w.logIn("man", "p")
	w.sees("There are no connections, or none that you may see.")
	w.click("nav a", "Policies")
	w.sees("max-length: 100")
	for _, offered := range []string{"Add policy…", "History", "Edit…", "Delete…"} {
		if strings.Contains(w.text(), offered) {
			t.Errorf("%s is offered", offered)
		}
	}
	w.click("nav a", "Exchanges")
	w.sees("amq.topic")
	if strings.Contains(w.text(), "Add exchange…") {
		t.Error("exchanges can be added")
	}
}

// Virtual hosts and users are added, changed and deleted, by administrators only; events are shown as they occur.
func TestPagesOfAdministrators(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	w := br.open(b, "#/vhosts").asGuest()
	w.opens("Add virtual host…")
	w.fill("dialog input[name=name]", hostile[0])
	w.fill("dialog input[name=tags]", "a, b")
	w.click("dialog button", "Add")
	w.sees(hostile[0])
	if got := w.rows("tags"); !slices.Contains(got, "a, b") {
		t.Error(got)
	}
	w.shoot("vhosts")
	w.click("nav a", "Users")
	w.opens("Add user…")
	w.fill("dialog input[name=name]", hostile[1])
	w.fill("dialog input[name=password]", "p")
	w.fill("dialog input[name=tags]", "management")
	w.click("dialog button", "Add")
	w.until("document.querySelector('dialog') === null && document.querySelectorAll('.items tbody tr').length === 2")
	w.fill("input[type=search]", "script")
	w.until("document.querySelectorAll('.items tbody tr').length === 1")
	w.opens("Permissions…")
	w.fill("dialog input[name=write]", "^none")
	w.click("dialog button", "Set")
	w.sees("/: .*, ^none, .*")
	w.opens("Edit…")
	w.fill("dialog input[name=tags]", "monitoring")
	w.click("dialog button", "Set")
	w.until("document.querySelector('[data-column=tags]')?.textContent === 'monitoring'")
	w.shoot("users")
	other := br.open(b, "#/users")
	other.logIn(hostile[1], "p") // the password is unchanged
	other.sees("What is due")
	if strings.Contains(other.text(), "Users") {
		t.Error("users are offered")
	}
	other.click("nav a", "Virtual hosts")
	other.sees("Default virtual host")
	if strings.Contains(other.text(), "Add virtual host") {
		t.Error("virtual hosts are offered")
	}
	other.close()
	w.opens("Delete…")
	w.click("dialog button", "Delete")
	w.sees("Nothing matches.")
	w.click("nav a", "Events")
	w.sees("Listening.")
	b.request("PUT", "/api/queues/%2F/"+url.PathEscape(hostile[2]), "{}", 201)
	w.sees("name: " + hostile[2])
	w.fill("main input", "exchange.*")
	w.click("button", "Listen")
	w.refused = []string{"/api/x/events"}
	w.shoot("events")
	w.onlyText()
}

// Names are shown as text in these pages, too.
func TestListsShowText(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.called(hostile[0])
	for i, name := range hostile {
		c.queue(name, nil)
		c.must(c.ExchangeDeclare(name, "topic", false, false, false, false, amqp.Table{"x-" + name: name}))
		c.must(c.QueueBind(name, name, name, false, amqp.Table{"x-" + name: name}))
		_, err := c.Consume(name, name, false, false, false, false, amqp.Table{"x-" + name: name})
		c.must(err)
		b.request("PUT", "/api/policies/%2F/"+url.PathEscape(name), fmt.Sprintf(`{"pattern":"<b>%d","definition":{"dead-letter-exchange":%q},"priority":%d}`, i, "<i>", i), 201)
	}
	w := br.open(b, "#/connections").asGuest()
	w.sees(hostile[0])
	for _, page := range []struct{ address, column string }{{"#/exchanges?size=250", "name"}, {"#/consumers?size=250&cols=queue,arguments", "tag"}, {"#/policies?size=250", "name"}} {
		w.at(page.address)
		w.until(fmt.Sprintf("document.querySelectorAll('.items tbody tr').length >= %d", len(hostile)))
		shown := w.rows(page.column)
		for _, name := range hostile {
			if !slices.Contains(shown, name) {
				t.Errorf("%s does not show %q", page.address, name)
			}
		}
	}
	w.at("#/exchanges/%2F/" + url.PathEscape(hostile[0]))
	w.sees("Unbind…")
	w.sees(hostile[0])
	w.at("#/policies/explain/%2F/queue/" + url.PathEscape(hostile[1]))
	w.sees("Why queue " + hostile[1])
	w.at("#/policies/history/%2F")
	w.sees("policy " + hostile[3] + " set:")
	w.onlyText("main b", "main svg")
	w.do(chromedp.KeyEvent(kb.Escape))
}

// lists opens each page with a list, and the page of a row.
func lists(w *tab, check func(page string)) {
	w.Helper()
	c := w.broker.called("worker")
	c.consume("orders.dead", false)
	defer c.conn.Close()
	for _, p := range []struct{ address, sees, as string }{
		{"#/connections", "Client name", "connections"},
		{"#/channels", "Prefetch", "channels"},
		{"#/consumers", "Consumer tag", "consumers"},
		{"#/exchanges", "(AMQP default)", "exchanges"},
		{"#/exchanges/%2F/amq.default", "implicit", "exchange"},
		{"#/policies", "^orders", "policies"},
		{"#/policies/explain/%2F/queue/orders.new", "its pattern matches", "explain"},
		{"#/policies/history", "Undo", "history"},
		{"#/vhosts", "Default virtual host", "vhosts"},
		{"#/users", "administrator", "users"},
		{"#/events", "Listening.", "events"},
		{"#/flow", "As a table", "flow"},
		{"#/node", "of the memory", "node"},
		{"#/limits", "There are none.", "limits"},
		{"#/parameters", "internal_cluster_id", "parameters"},
		{"#/shovels", "There are none.", "shovels"},
		{"#/schedules", "There are none.", "schedules"},
		{"#/definitions", "Upload", "definitions"},
		{"#/api?name=flow", "1 operation", "api"},
	} {
		w.at(p.address)
		w.sees(p.sees)
		w.until("document.querySelector('.items, .part, .event-fields, main form, section') !== null && (document.querySelector('.part, main > form, section') !== null || document.querySelector('.items tbody tr, .empty:not([hidden])') !== null)")
		check(p.as)
	}
	w.at("#/connections")
	w.until("document.querySelector('.items tbody a') !== null")
	_ = eval[bool](w, "(document.querySelector('.items tbody a').click(), true)")
	w.sees("Client properties")
	w.until("document.querySelector('.part tbody tr') !== null")
	check("connection")
	w.at("#/policies")
	w.click(".items button", "Edit…")
	w.sees("Replaces the policy of that name. Affects 0 queues.")
	check("policy-edit")
	w.click("dialog button", "Cancel")
	unfolded(w, check)
}

// unfolded opens the parts of pages closed at first.
func unfolded(w *tab, check func(page string)) {
	w.Helper()
	w.at("#/node")
	w.sees("Feature flags")
	_ = eval[bool](w, "(document.querySelectorAll('main details').forEach((d) => { d.open = true; }), true)")
	w.sees("Server startup complete")
	check("node-all")
	w.at("#/api?name=flow")
	w.until("document.querySelector('details.operation:not([hidden])') !== null")
	_ = eval[bool](w, "(document.querySelector('details.operation:not([hidden])').open = true)")
	w.sees("in the path, string")
	check("api-operation")
	w.at("#/flow")
	w.sees("As a table")
	_ = eval[bool](w, "(document.querySelector('main details').open = true)")
	check("flow-table")
	for address, button := range map[string]string{"#/shovels": "Add shovel…", "#/parameters": "Add parameter…", "#/limits": "Set limit of a user…", "#/users": "Add user…"} {
		w.at(address)
		w.opens(button)
		check(strings.Trim(address, "#/") + "-add")
		w.click("dialog button", "Cancel")
		w.until("document.querySelector('dialog') === null")
	}
}

// A queue is declared on the page of queues; its row shows what it does with time, mutes zeros and keeps both ends of a long name. The
// number of a duration has room, and buttons of locks are within the window. Another user who logs in begins at the first page.
func TestPageQueueDetails(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	w := br.open(b, "#/queues").asGuest()
	w.opens("Add queue…")
	w.fill("dialog input[name=name]", "orders.of.the.whole.company.2026.eu-west-1")
	w.fill("dialog textarea", `{"x-message-ttl": 90000, "x-dead-letter-exchange": "", "x-delayed-messages": true}`)
	w.click("dialog button", "Add")
	w.until("document.querySelector('.items tbody .tail')?.textContent === '.eu-west-1'")
	if text := eval[string](w, "document.querySelector('.items tbody tr').textContent"); !strings.Contains(text, "TTL") || !strings.Contains(text, "DLX") || !strings.Contains(text, "running") {
		t.Error(text)
	}
	if title := eval[string](w, "[...document.querySelectorAll('.items abbr')].find((e) => e.textContent === 'TTL').title"); title != "message-ttl: 1 min 30 s" {
		t.Error(title)
	}
	if zeros := eval[int](w, "document.querySelectorAll('.items .zero').length"); zeros == 0 {
		t.Error("zeros are not muted")
	}
	b.request("POST", "/api/exchanges/%2F/amq.default/publish", `{"routing_key":"orders.of.the.whole.company.2026.eu-west-1","payload":"x","payload_encoding":"string","properties":{"headers":{"x-delay":600000}}}`, 200)
	w.click(".items tbody a", "orders.of.the.whole.company.2026.eu-west-1")
	w.click(".parts a", "Scheduled")
	w.opens("Reschedule…")
	if width := eval[float64](w, "document.querySelector('dialog .duration input').getBoundingClientRect().width"); width < 60 {
		t.Errorf("the number has %v px", width)
	}
	w.click("dialog button", "Cancel")
	b.request("PUT", "/api/users/other", `{"password":"p","tags":"management"}`, 201)
	w.click("header button", "Log out")
	w.logIn("other", "p")
	w.until("location.hash === '#/' || location.hash === ''")
}
