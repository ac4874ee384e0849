package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// offers are the labels of all actions that a page offers, and the offered parts of a queue's page.
const offers = `[...document.querySelectorAll('main button, main a.button, main .parts a')]
	.filter((e) => e.checkVisibility() && !e.closest('thead, .pages') && /…$|^(Renew|Undo|Restart|History|Explain|Messages|Locks|Scheduled)$/.test(e.textContent))
	.map((e) => e.textContent).sort().join(' ')`

// offersAt opens a page, waits until a condition holds and no request is pending, and compares the offered actions.
func (w *tab) offersAt(address, loaded, want string) {
	w.Helper()
	w.at(address)
	w.until(loaded)
	w.quiet()
	if got := eval[string](w, offers); got != want {
		w.Errorf("%s offers %q, want %q", address, got, want)
	}
}

// quiet waits until no request is pending.
func (w *tab) quiet() {
	w.Helper()
	eventually(w.T, "answers", func() bool {
		_ = eval[int](w, "new Promise((r) => requestAnimationFrame(() => r(1)))") // lets the page process the answers
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.asking) == 0
	})
}

const (
	queueIsThere    = "document.querySelector('fieldset.buttons')?.disabled === false && document.querySelector('.tiles') !== null && document.querySelector('h1').textContent === %q"
	exchangeIsThere = "document.querySelector('h1')?.textContent === %q && document.querySelectorAll('.factgrid dd').length > 4"
	rowsAreThere    = "document.querySelector('h1')?.textContent === %q && document.querySelector('.items tbody tr') !== null"
)

// mineAndYours declares queues and exchanges of the same kind; users have permissions for some of them.
func mineAndYours(b *broker) {
	b.Helper()
	c := b.dialWith(amqp.Config{Heartbeat: time.Minute})
	for _, name := range []string{"mine.x", "yours.x"} {
		c.must(c.ExchangeDeclare(name, "direct", false, false, false, false, nil))
	}
	for _, name := range []string{"mine", "yours"} {
		c.queue(name, amqp.Table{"x-delayed-messages": true, "x-consumer-timeout": int64(3_000_000)})
		for _, from := range []string{"mine.x", "yours.x"} {
			c.must(c.QueueBind(name, name, from, false, nil))
		}
		c.send(name, "held", "a", "b", "c")
		c.put("", name, amqp.Publishing{Body: []byte("later"), Headers: amqp.Table{"x-delay": int64(600_000)}})
		if _, ok, err := c.Get(name, false); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
	b.request("PUT", "/api/policies/%2F/here", `{"pattern":"^mine","definition":{"max-length":100}}`, 201)
	b.request("PUT", "/api/vhosts/other", "{}", 201)
	b.request("PUT", "/api/policies/other/there", `{"pattern":"^mine","definition":{"max-length":100}}`, 201)
	b.request("PUT", "/api/x/schedules/%2F/mine", `{"cron":"0 0 * * *","queue":"mine.none","paused":true}`, 200)
	for _, vhost := range []string{"%2F", "other"} {
		b.request("PUT", "/api/parameters/shovel/"+vhost+"/s", `{"value":{"src-uri":"amqp://127.0.0.1:1","src-queue":"a","dest-uri":"amqp://","dest-queue":"b"}}`, 201)
	}
}

// pageOf logs in as a user with these permissions in a virtual host.
func pageOf(br *browser, b *broker, user, tags, vhost, grant string) *tab {
	br.Helper()
	b.request("PUT", "/api/users/"+user, `{"password":"p","tags":"`+tags+`"}`, 201)
	if grant != "" {
		b.request("PUT", "/api/permissions/"+vhost+"/"+user, grant, 201)
	}
	w := br.open(b, "#/now")
	w.logIn(user, "p")
	w.sees("What is due")
	return w
}

// Forbidden actions are not offered, and offered ones work: the browser reports any refused request.
func TestPagesOfferWhatWorks(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	mineAndYours(b)
	offeredToMonitors(pageOf(br, b, "mon", "monitoring", "", ""))
	offeredToMakers(pageOf(br, b, "maker", "policymaker,monitoring", "other", `{"configure":"","write":"","read":""}`))
	offeredToReaders(pageOf(br, b, "reader", "management", "%2F", `{"configure":"","write":"","read":".*"}`))
	w := pageOf(br, b, "owner", "management", "%2F", `{"configure":"^mine","write":"^(mine|amq.default$)","read":"^mine"}`)
	offeredToOwners(w)
	ownersWork(w, b)
}

// everyPage opens all pages of the menu; no request may be refused.
func (w *tab) everyPage() {
	w.Helper()
	for _, page := range eval[[]string](w, "[...document.querySelectorAll('header nav a, nav.parts a')].map((a) => a.getAttribute('href'))") {
		w.at(page)
		w.until(fmt.Sprintf("document.querySelector('main h1, main .strip') !== null && location.hash.startsWith(%q)", page))
		if page != "#/events" { // its answer does not end
			w.quiet()
		}
	}
}

func (w *tab) selectRows() {
	w.Helper()
	w.until("document.querySelector('thead .pick input') !== null")
	_ = eval[bool](w, "(document.querySelector('thead .pick input').checked || document.querySelector('thead .pick input').click(), true)")
}

func offeredToMonitors(w *tab) {
	w.Helper()
	w.everyPage()
	w.offersAt("#/queues", fmt.Sprintf(rowsAreThere, "Queues"), "")
	w.selectRows()
	w.offersAt("#/queues", "document.body.innerText.includes('2 queues selected')", "")
	w.offersAt("#/queue/%2F/mine", fmt.Sprintf(queueIsThere, "mine"), "")
	w.sees("Locks are not counted: you may not read this queue.")
	w.offersAt("#/queue/%2F/mine?show=messages", "document.body.innerText.includes('You may not read this queue.')", "")
	w.offersAt("#/exchanges", fmt.Sprintf(rowsAreThere, "Exchanges"), "")
	w.offersAt("#/exchanges/%2F/mine.x", fmt.Sprintf(exchangeIsThere, "mine.x"), "")
	w.offersAt("#/connections", fmt.Sprintf(rowsAreThere, "Connections"), "")
	w.click(".items a.name", eval[string](w, "document.querySelector('.items a.name').textContent"))
	w.offersAt(eval[string](w, "location.hash"), "document.querySelectorAll('.factgrid dd').length > 4", "")
	w.offersAt("#/shovels", fmt.Sprintf(rowsAreThere, "Shovels"), "")
	w.offersAt("#/policies", fmt.Sprintf(rowsAreThere, "Policies"), "")
	w.close()
}

// offeredToMakers checks the actions on policies, parameters and shovels of one of two virtual hosts, both of which a monitoring
// user sees.
func offeredToMakers(w *tab) {
	w.Helper()
	w.everyPage()
	w.offersAt("#/policies", fmt.Sprintf(rowsAreThere, "Policies"), "Add policy… Delete… Edit… Explain History")
	w.opens("Edit…")
	w.sees("Policy there in other")
	w.until("document.querySelector('dialog button[type=submit]')?.disabled === false") // the preview has been shown
	w.click("dialog button", "Set policy")
	w.until("document.querySelector('dialog') === null")
	w.click("main a.button", "History")
	w.until("location.hash === '#/policies/history/other'")
	w.sees("policy there")
	w.offersAt("#/parameters", fmt.Sprintf(rowsAreThere, "Parameters"), "Add parameter… Delete… Edit…")
	w.offersAt("#/shovels", fmt.Sprintf(rowsAreThere, "Shovels"), "Add shovel… Delete… Restart")
	w.click("main button", "Restart")
	w.offersAt("#/shovels/%2F/s", "document.querySelectorAll('.factgrid dd').length > 4", "")
	w.offersAt("#/shovels/other/s", "document.querySelectorAll('.factgrid dd').length > 4 && location.hash.includes('other') && document.body.innerText.includes('Virtual host\\nother')", "Delete shovel…")
	w.offersAt("#/queue/%2F/mine?show=settings", fmt.Sprintf(queueIsThere, "mine"), "")
	w.sees("Only users with the tag policymaker see")
	w.close()
}

func offeredToReaders(w *tab) {
	w.Helper()
	w.everyPage()
	w.offersAt("#/queues", fmt.Sprintf(rowsAreThere, "Queues"), "")
	w.selectRows()
	w.offersAt("#/queues", "document.body.innerText.includes('2 queues selected')", "Purge…")
	w.offersAt("#/queue/%2F/yours", fmt.Sprintf(queueIsThere, "yours"), "Locks Messages Purge… Scheduled")
	for _, part := range []struct{ name, rows, offers string }{
		{"messages", "document.querySelectorAll('button.open').length === 5", ""},
		{"locks", "document.body.innerText.includes('basic.get')", "Renew "},
		{"scheduled", "document.querySelectorAll('tbody tr').length === 1", ""},
	} {
		w.offersAt("#/queue/%2F/yours?show="+part.name, part.rows, strings.Replace("Locks Messages Purge… Scheduled", "S", part.offers+"S", 1))
		if part.offers != "" {
			w.click("td button", "Renew")
			w.sees("now ends at ")
		}
	}
	if eval[bool](w, "document.querySelector('td.pick') !== null") {
		w.Error("messages can be selected, for nothing")
	}
	w.click("button", "Purge…")
	w.click("dialog button", "Purge")
	w.sees("Ready\n0")
	w.offersAt("#/exchanges", fmt.Sprintf(rowsAreThere, "Exchanges"), "")
	w.offersAt("#/exchanges/%2F/yours.x", fmt.Sprintf(exchangeIsThere, "yours.x"), "")
	w.close()
}

func offeredToOwners(w *tab) {
	w.Helper()
	const parts = "Locks Messages Publish… Purge… Scheduled"
	w.offersAt("#/queues?name=yours", "document.querySelectorAll('.items tbody tr').length === 1", "Add queue…")
	w.selectRows()
	w.offersAt("#/queues?name=yours", "document.body.innerText.includes('1 queue selected')", "Add queue…")
	w.offersAt("#/queues", "document.querySelectorAll('.items tbody tr').length === 2", "Add queue…")
	w.selectRows()
	w.offersAt("#/queues", "document.body.innerText.includes('2 queues selected')", "Add queue… Delete… Purge…")
	w.click("button", "Delete…")
	w.sees("Delete 1 queue?")
	w.click("dialog button", "Cancel")
	w.offersAt("#/queue/%2F/yours", fmt.Sprintf(queueIsThere, "yours"), "Publish…")
	w.offersAt("#/queue/%2F/mine", fmt.Sprintf(queueIsThere, "mine"), "Delete… "+parts)
	w.offersAt("#/queue/%2F/mine?show=messages", "document.querySelectorAll('button.open').length === 5", "Delete… Locks Messages Move all… Move selected… Publish… Purge… Scheduled")
	w.offersAt("#/queue/%2F/mine?show=locks", "document.body.innerText.includes('basic.get')", "Delete… Locks Messages Publish… Purge… Renew Return… Scheduled")
	w.offersAt("#/queue/%2F/mine?show=scheduled", "document.querySelectorAll('tbody tr').length === 1", "Cancel several… Cancel… Delete… Locks Messages Publish… Purge… Reschedule several… Reschedule… Scheduled")
	w.offersAt("#/schedules/%2F/mine", "document.querySelector('fieldset.buttons')?.disabled === false", "Backfill… Delete… Edit… Pause or resume… Trigger…")
	w.opens("Backfill…")
	w.fill("dialog input[name=from]", "2026-01-01T00:00:00Z")
	w.fill("dialog input[name=rate]", "1")
	w.sees(" runs in ")
	w.click("dialog button", "Backfill")
	w.until("document.querySelector('dialog') === null")
	w.sees("so far, until")
	w.opens("Backfill…")
	w.click("dialog button", "Cancel the backfill")
	w.until("document.querySelector('dialog') === null && !document.body.innerText.includes('so far, until')")
	w.offersAt("#/exchanges", fmt.Sprintf(rowsAreThere, "Exchanges"), "Add exchange…")
	w.offersAt("#/exchanges/%2F/yours.x", fmt.Sprintf(exchangeIsThere, "yours.x"), "")
	w.offersAt("#/exchanges/%2F/amq.direct", fmt.Sprintf(exchangeIsThere, "amq.direct"), "")
	w.offersAt("#/exchanges/%2F/mine.x", fmt.Sprintf(exchangeIsThere, "mine.x"), "Add binding… Delete exchange… Unbind…")
}

// ownersWork uses all offered actions.
func ownersWork(w *tab, b *broker) {
	w.Helper()
	does := func(button, submit string) {
		w.Helper()
		w.click("main button", button)
		w.click("dialog button", submit)
		w.until("document.querySelector('dialog') === null")
		w.quiet()
	}
	w.opens("Add binding…") // on the page of mine.x
	w.fill("dialog input[name=destination]", "mine")
	w.fill("dialog input[name=key]", "other")
	w.click("dialog button", "Bind")
	w.until("document.querySelector('dialog') === null")
	does("Unbind…", "Unbind")
	w.at("#/exchanges")
	w.until(fmt.Sprintf(rowsAreThere, "Exchanges"))
	w.opens("Add exchange…")
	w.fill("dialog input[name=name]", "mine.new")
	w.click("dialog button", "Add")
	w.sees("mine.new")
	w.at("#/exchanges/%2F/mine.new")
	w.until(fmt.Sprintf(exchangeIsThere, "mine.new"))
	does("Delete exchange…", "Delete")
	w.at("#/queue/%2F/yours")
	w.until(fmt.Sprintf(queueIsThere, "yours"))
	does("Publish…", "Publish")
	w.at("#/queue/%2F/mine?show=locks")
	w.sees("basic.get")
	w.click("td button", "Renew")
	w.sees("now ends at ")
	does("Return…", "Return it")
	w.at("#/queue/%2F/mine?show=scheduled")
	w.until("document.querySelectorAll('tbody tr').length === 1")
	does("Reschedule…", "Reschedule")
	does("Cancel…", "Drop it")
	w.at("#/queue/%2F/mine?show=messages")
	w.click("main button", "Move all…")
	_ = eval[bool](w, "((s) => { s.value = 'queue'; s.dispatchEvent(new Event('input', { bubbles: true })); return true; })(document.querySelector('dialog select[name=to]'))")
	w.fill("dialog input[name=queue]", "yours")
	w.click("dialog button", "Preview")
	w.click("dialog button", "Move 4 messages")
	w.sees("Move 1: finished. 4 messages moved, 0 left.")
	does("Purge…", "Purge")
	w.click("main button", "Delete…")
	w.click("dialog button", "Delete")
	w.refused = []string{"status of 404"} // the page requests the deleted queue
	w.sees("There is no queue of this name.")
	b.request("GET", "/api/queues/%2F/mine", "", 404)
	w.close()
}
