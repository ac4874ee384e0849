package integration

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// pick selects an option of a list.
func (w *tab) pick(selector, value string) {
	w.Helper()
	set := "((e) => { e.value = " + quoted(value) + "; e.dispatchEvent(new Event('change', {bubbles: true})); return e.value === " + quoted(value) + "; })(document.querySelector(" + quoted(selector) + "))"
	w.until("document.querySelector(" + quoted(selector) + ") !== null")
	w.until(set)
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a JSON string
	return string(b)
}

// upload selects a file with that content.
func (w *tab) upload(text string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "definitions.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	w.do(chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{file}))
	w.until("document.querySelector('input[type=file]').files.length === 1")
}

// Definitions are imported after the page has shown the effect; an invalid file is reported and changes nothing.
func TestPageDefinitions(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/vhosts/other", "{}", 201)
	b.request("PUT", "/api/queues/other/there", `{"arguments":{"x-max-length":7}}`, 201)
	w := br.open(b, "#/definitions").asGuest()
	disabled := func(button string) bool {
		return eval[bool](w, "[...document.querySelectorAll('button')].find((e) => e.textContent === "+quoted(button)+").disabled")
	}
	if !disabled("Check") || !disabled("Import") {
		t.Error("nothing is chosen, but can be imported")
	}
	before := b.request("GET", "/api/definitions", "", 200)
	w.refused = []string{"/api/definitions"}
	w.upload(`{"queues": [`)
	w.click("button", "Check")
	w.sees("Nothing was changed: failed_to_parse_json")
	w.upload(`{"users":[{"name":"` + strings.ReplaceAll(hostile[1], `"`, `\"`) + `","password_hash":"","tags":""}],` +
		`"queues":[{"name":"good","vhost":"/","durable":true,"auto_delete":false,"arguments":{}},` +
		`{"name":"bad","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-max-length":-1}}],"strange":[]}`)
	w.click("button", "Check")
	w.sees("Nothing is changed yet. 3 items: refused: 1")
	w.sees("invalid arg 'x-max-length' for queue 'bad' in vhost '/'")
	w.sees(`unknown section "strange" is ignored`)
	w.sees(hostile[1])
	w.shoot("definitions-refused")
	if !disabled("Import") {
		t.Error("it can be imported")
	}
	if after := b.request("GET", "/api/definitions", "", 200); after != before {
		t.Errorf("something has changed: %s", after)
	}
	w.upload(`{"queues":[{"name":"good","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]}`)
	w.until("!document.body.innerText.includes('Nothing is changed yet.')")
	w.click("button", "Check")
	w.sees("Nothing is changed yet. 1 item: taken: 1")
	b.request("GET", "/api/queues/%2F/good", "", 404)
	w.click("button", "Import")
	w.sees("Imported. taken: 1")
	b.request("GET", "/api/queues/%2F/good", "", 200)
	if !disabled("Import") {
		t.Error("it can be imported again without a look")
	}
	_ = eval[bool](w, "(window.saved = [], URL.createObjectURL = (b) => { window.saved.push(b.text()); return 'data:,'; }, HTMLAnchorElement.prototype.click = function () { window.named = this.download; }, true)")
	w.pick("section select", "/other")
	_ = eval[bool](w, "([...document.querySelectorAll('section button')].find((e) => e.textContent === 'Download').click(), true)")
	w.until("window.saved.length === 1")
	if saved, want := eval[string](w, "window.saved[0]"), b.request("GET", "/api/definitions/other", "", 200); saved != want || !strings.Contains(saved, `"there"`) {
		t.Errorf("%s, want %s", saved, want)
	}
	if name := eval[string](w, "window.named"); !strings.HasPrefix(name, "definitions-other-20") {
		t.Error(name)
	}
	w.onlyText()
}

// The page of the node shows the values of the API, and sets its thresholds and the log level.
func TestPageNode(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	w := br.open(b, "#/node").asGuest()
	w.sees("Candlemark 0.1.0")
	w.sees("0.4 of the memory")
	if !strings.Contains(w.text(), strings.Split(b.amqp, ":")[1]) {
		t.Error(w.text())
	}
	w.refused = []string{"/api/disk-free-limit", "/api/memory-high-watermark"}
	w.click("tr:nth-child(2) button", "Change…")
	w.pick("dialog select", "absolute")
	w.fill("dialog input", "much")
	w.click("dialog button", "Set")
	w.until("document.querySelector('dialog .error').textContent > ''")
	w.fill("dialog input", "900000GB")
	w.click("dialog button", "Set")
	w.sees("yes: publishers are blocked")
	w.sees("Publishers are blocked.")
	w.shoot("node-alarm")
	if got := b.request("GET", "/api/disk-free-limit", "", 200); !strings.Contains(got, `"absolute":900000000000000`) {
		t.Error(got)
	}
	w.click("tr:nth-child(2) button", "Change…")
	w.fill("dialog input", "0")
	w.click("dialog button", "Set")
	w.until("!document.body.innerText.includes('Publishers are blocked.')")
	w.click("tr:nth-child(1) button", "Change…")
	w.fill("dialog input", "0.5")
	w.click("dialog button", "Set")
	w.sees("0.5 of the memory")
	w.opens("Log level…")
	w.pick("dialog select", "debug")
	w.click("dialog button", "Set")
	w.until("document.querySelector('dialog') === null")
	w.sees("debug")
	if got := b.request("GET", "/api/x/log-level", "", 200); got != `{"level":"debug"}` {
		t.Error(got)
	}
	w.click("summary", "Log")
	w.sees("Server startup complete")
	b.request("PUT", "/api/users/"+url.PathEscape(hostile[0]), `{"password":"p","tags":""}`, 201)
	w.sees(hostile[0])
	b.dial().queue("of a client", nil)
	w.sees("connection opened")
	w.onlyText()
	w.shoot("node-log")
	w.click("summary", "Feature flags")
	w.sees("rabbitmq_4.0.0")
	w.click("summary", "Settings")
	w.sees("(hidden)")
	w.close()
	nodeOfMonitors(br, b)
}

// nodeOfMonitors views the page as a user who may not change anything.
func nodeOfMonitors(br *browser, b *broker) {
	br.Helper()
	b.request("PUT", "/api/users/mon", `{"password":"p","tags":"monitoring"}`, 201)
	w := br.open(b, "#/node")
	w.logIn("mon", "p")
	w.sees("Alarms and thresholds")
	w.sees("debug")
	for _, offered := range []string{"Change…", "Log level…", "Settings"} {
		if strings.Contains(w.text(), offered) {
			br.Errorf("%s is offered", offered)
		}
	}
}

// Limits are set, lowered and cleared.
func TestPageLimits(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/users/man", `{"password":"p","tags":"management"}`, 201)
	b.request("PUT", "/api/permissions/%2F/man", `{"configure":"","write":"","read":""}`, 201)
	b.request("PUT", "/api/user-limits/guest/max-channels", `{"value":100}`, 204)
	w := br.open(b, "#/limits").asGuest()
	w.sees("100 channels")
	w.opens("Set limit of a virtual host…")
	w.refused = []string{"/api/vhost-limits/"}
	w.pick("dialog select[name=limit]", "max-queues")
	w.fill("dialog input", "1")
	w.click("dialog button", "Set")
	w.sees("1 queue")
	if got := b.request("GET", "/api/vhost-limits", "", 200); got != `[{"vhost":"/","value":{"max-queues":1}}]` {
		t.Error(got)
	}
	w.shoot("limits")
	w.click(".part:first-of-type button", "Clear…")
	w.sees("The limit is 1")
	w.click("dialog button", "Clear")
	w.until("document.querySelector('.part:first-of-type td') === null")
	w.opens("Set limit of a user…")
	w.pick("dialog select[name=name]", "man")
	w.fill("dialog input", "3")
	w.click("dialog button", "Set")
	w.sees("3 connections")
	w.close()
	w = br.open(b, "#/limits")
	w.logIn("man", "p")
	w.sees("3 connections")
	if strings.Contains(w.text(), "100 channels") || strings.Contains(w.text(), "Set") || strings.Contains(w.text(), "Clear") {
		t.Error(w.text())
	}
}

// Parameters and global parameters are added, changed and deleted; passwords in them are not shown.
func TestPageParameters(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/parameters/shovel/%2F/old", `{"value":{"src-uri":"amqp://user:secret@127.0.0.1:1","src-queue":"a","dest-uri":["amqp://"],"dest-queue":"b"}}`, 201)
	w := br.open(b, "#/parameters").asGuest()
	w.sees(`"src-uri":"amqp://127.0.0.1:1"`)
	w.refused = []string{"/parameters/"}
	w.opens("Add parameter…")
	w.pick("dialog select", "global parameter")
	w.fill("dialog input", "motd")
	w.fill("dialog textarea", "{no")
	w.click("dialog button", "Set")
	w.sees("The value is not JSON")
	w.fill("dialog textarea", `"<b>hello</b>"`)
	w.click("dialog button", "Set")
	w.sees(`"<b>hello</b>"`)
	if got := b.request("GET", "/api/global-parameters/motd", "", 200); !strings.Contains(got, `"<b>hello</b>"`) && !strings.Contains(got, `\u003cb`) {
		t.Error(got)
	}
	w.opens("Add parameter…")
	w.pick("dialog select", "shovel")
	w.fill("dialog input", "new")
	w.fill("dialog textarea", `{"src-queue": "a"}`)
	w.click("dialog button", "Set")
	w.sees("Validation failed")
	w.click("dialog button", "Cancel")
	w.until("document.querySelector('dialog') === null")
	w.fill("input[type=search]", "old")
	w.until("document.querySelectorAll('.items tbody tr').length === 1")
	w.opens("Edit…")
	w.sees("enter them again")
	w.click("dialog button", "Cancel")
	w.until("document.querySelector('dialog') === null")
	w.shoot("parameters")
	w.opens("Delete…")
	w.sees("This deletes the shovel.")
	w.click("dialog button", "Delete")
	w.sees("Nothing matches.")
	if text := w.text(); strings.Contains(text, "secret") {
		t.Error(text)
	}
	w.onlyText()
	w.close()
	b.request("PUT", "/api/users/maker", `{"password":"p","tags":"policymaker"}`, 201)
	b.request("PUT", "/api/permissions/%2F/maker", `{"configure":"","write":"","read":""}`, 201)
	w = br.open(b, "#/parameters")
	w.logIn("maker", "p")
	w.sees("motd")
	if strings.Contains(w.text(), "Edit…") {
		t.Error("global parameters can be changed")
	}
	w.opens("Add parameter…")
	if kinds := eval[string](w, "document.querySelector('dialog select').textContent"); strings.Contains(kinds, "global") {
		t.Error(kinds)
	}
}

// A shovel is added, moves messages, and is deleted; addresses are shown without passwords.
func TestPageShovels(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	for _, name := range []string{"from", "to"} {
		_, err := c.QueueDeclare(name, true, false, false, false, nil)
		c.must(err)
	}
	c.send("from", "a", "b", "c")
	b.request("PUT", "/api/parameters/shovel/%2F/broken", `{"value":{"src-uri":"amqp://user:secret@127.0.0.1:1","src-queue":"a","dest-uri":"amqp://","dest-queue":"b"}}`, 201)
	w := br.open(b, "#/shovels").asGuest()
	w.sees("failed to connect to source: amqp://127.0.0.1:1")
	w.refused = []string{"/api/parameters/shovel", "/api/shovels"}
	w.opens("Add shovel…")
	w.fill("dialog input[name=name]", "mine")
	w.fill("dialog input[name=src-name]", "from")
	w.fill("dialog input[name=dest-name]", "to")
	w.fill("dialog input[name=src-uri]", "nonsense")
	w.click("dialog button", "Add")
	w.until("document.querySelector('dialog .error').textContent > ''")
	w.fill("dialog input[name=src-uri]", "amqp://")

	w.click("dialog button", "Add")
	w.until("document.querySelector('dialog') === null")
	w.until("[...document.querySelectorAll('.items tbody tr')].some((r) => r.querySelector('[data-column=state]').textContent === 'running' && r.querySelector('[data-column=forwarded]').textContent === '3')")
	if got := b.request("GET", "/api/queues/%2F/to?columns=messages", "", 200); got != `{"messages":3}` {
		t.Error(got)
	}
	w.shoot("shovels")
	w.click("a.name", "broken")
	w.sees("src-uri\namqp://***@127.0.0.1:1")
	w.click(".parts a", "Shovels")
	w.click("a.name", "mine")
	w.sees("Forwarded\n3")
	w.shoot("shovel")
	w.opens("Delete shovel…")
	w.sees("has moved 3 messages")
	w.click("dialog button", "Delete")
	w.until("location.hash === '#/shovels' && document.querySelectorAll('.items tbody tr').length === 1")
	if text := w.text(); strings.Contains(text, "secret") {
		t.Error(text)
	}
	w.close()
	b.request("PUT", "/api/users/mon", `{"password":"p","tags":"monitoring"}`, 201)
	w = br.open(b, "#/shovels")
	w.logIn("mon", "p")
	w.sees("broken")
	if text := w.text(); strings.Contains(text, "Delete…") || strings.Contains(text, "Restart") || strings.Contains(text, "Add shovel") {
		t.Error(text)
	}
}

// Schedules are set with a preview of their times, paused, triggered and deleted.
func TestPageSchedules_REC11(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	_, err := c.QueueDeclare("reports", true, false, false, false, nil)
	c.must(err)
	b.request("PUT", "/api/x/schedules/%2F/beat", `{"every":"5m","queue":"reports","jitter":1000}`, 200)
	b.request("PUT", "/api/x/schedules/%2F/nightly", `{"cron":"30 2 * * MON-FRI","zone":"Europe/Berlin","exchange":"amq.topic","routing_key":"a.b","expires":"next"}`, 200)
	w := br.open(b, "#/schedules").asGuest()
	w.sees("30 2 * * MON-FRI (Europe/Berlin)")
	w.sees("The next 24 hours")
	w.refused = []string{"/api/x/schedules"}
	w.opens("Add schedule…")
	w.fill("dialog input[name=name]", "hourly")
	w.fill("dialog input[name=cron]", "61 * * * *")
	w.fill("dialog input[name=queue]", "reports")
	w.sees(`minute: "61" is not in 0-59`)
	w.fill("dialog input[name=cron]", "0 * * * *")
	w.until("document.querySelectorAll('dialog .times li').length === 10")
	w.shoot("schedule-editor")
	w.click("dialog button", "Set")
	w.until("document.querySelector('dialog') === null")
	w.sees("hourly")
	w.shoot("schedules")
	w.resize(look{400, 800})
	w.shoot("schedules-400")
	w.until("document.documentElement.scrollWidth <= 400")
	w.resize(desktop)
	w.click("a.name", "hourly")
	w.sees("running")
	w.opens("Trigger…")
	w.click("dialog button", "Trigger")
	w.until("document.querySelector('dialog') === null")
	w.sees("trigger")
	w.opens("Pause or resume…")
	w.fill("dialog input[name=note]", "holidays")
	w.click("dialog button", "Pause")
	w.sees("holidays")
	w.backfills()
	w.shoot("schedule")
	w.at("#/queue/%2F/reports")
	w.until("[...document.querySelectorAll('table')].some((t) => t.innerText.includes('hourly') && t.innerText.includes('paused') && t.innerText.includes('every 5m'))")
	w.shoot("queue-schedules")
	w.resize(look{400, 800})
	w.shoot("queue-schedules-400")
	w.until("document.documentElement.scrollWidth <= 400")
	w.resize(desktop)
	w.at("#/schedules/%2F/hourly")
	w.opens("Delete…")
	w.click("dialog button", "Delete")
	w.until("document.querySelector('dialog') === null")
	if got := b.request("GET", "/api/x/schedules?columns=name", "", 200); got != `[{"name":"beat"},{"name":"nightly"}]` {
		t.Error(got)
	}
}

// backfills publishes 24 past runs of an hourly schedule, whose page is open.
func (w *tab) backfills() {
	w.Helper()
	w.opens("Backfill…")
	w.fill("dialog input[name=from]", "2026-01-31T00:00:00Z")
	w.fill("dialog input[name=to]", "2026-01-31T23:00:00Z")
	w.sees("24 runs in 1 s")
	w.shoot("schedule-backfill")
	w.resize(look{400, 800})
	w.shoot("schedule-backfill-400")
	w.until("document.documentElement.scrollWidth <= 400")
	w.resize(desktop)
	w.click("dialog button", "Backfill")
	w.until("document.querySelector('dialog') === null")
	w.sees("2026-01-31T23:00:00Z")
}

// The API's description is a searchable page.
func TestPageAPI(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	w := br.open(b, "#/api").asGuest()
	w.until(fmt.Sprintf("document.querySelectorAll('details.operation').length === %d", strings.Count(b.request("GET", "/api/openapi.yaml", "", 200), "      summary: ")))
	w.fill("input[type=search]", "delete POLICIES/{vhost} operator")
	w.sees("1 operation")
	w.until("location.hash === '#/api?name=delete+POLICIES%2F%7Bvhost%7D+operator'")
	w.fill("input[type=search]", "get /api/x/flow")
	w.sees("1 operation")
	w.until("document.querySelector('details.operation:not([hidden])') !== null")
	_ = eval[bool](w, "(document.querySelector('details.operation:not([hidden]) summary').click(), true)")
	w.sees("in the query, string, part of the name of a queue")
	w.sees("truncated: boolean")
	w.shoot("api-operation")
}
