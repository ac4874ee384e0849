package integration

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	amqp "github.com/rabbitmq/amqp091-go"
)

// peeked are messages of a queue as the API returns them.
type peeked struct {
	ID, State, Payload, Due string
	Redelivered             bool
	Properties              map[string]any
}

func (b *broker) peeked(queue, state string) []peeked {
	b.Helper()
	var all struct{ Messages []peeked }
	if err := json.Unmarshal([]byte(b.request("GET", "/api/x/queues/%2F/"+url.PathEscape(queue)+"/messages?state="+state, "", 200)), &all); err != nil {
		b.Fatal(err)
	}
	return all.Messages
}

// worked declares a queue with messages of each kind, one of them unacked, and one whose messages are dead-lettered twice.
func worked(b *broker) {
	b.Helper()
	c := b.dialWith(amqp.Config{Heartbeat: time.Minute}) // locks survive a pause of the process
	c.queue("orders", amqp.Table{
		"x-expires": int64(5_000_000), "x-delayed-messages": true, "x-consumer-timeout": int64(3_000_000), "x-message-ttl": int64(9_000_000), "x-dead-letter-exchange": "",
		"x-dead-letter-routing-key": "dead",
	})
	c.queue("dead", amqp.Table{"x-message-ttl": int64(1), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "expired"})
	c.queue("expired", nil)
	b.request("PUT", "/api/policies/%2F/short", `{"pattern":"^orders$","definition":{"message-ttl":7000000},"apply-to":"queues"}`, 201)
	b.request("PUT", "/api/operator-policies/%2F/roof", `{"pattern":"^orders$","definition":{"max-length":500},"apply-to":"queues"}`, 201)
	c.put("", "orders", amqp.Publishing{Body: []byte("held")})
	c.put("", "orders", amqp.Publishing{ContentType: "application/json", Expiration: "600000", Body: []byte(`{"item":"candle","n":[1,2]}`), Headers: amqp.Table{"x-kind": "small", "big": int64(1<<60 + 1)}})
	c.put("", "orders", amqp.Publishing{Body: []byte{0, 255, 'A'}})
	for i := range 3 {
		c.put("", "orders", amqp.Publishing{Body: []byte("later"), MessageId: fmt.Sprintf("invoice-%d", i), Headers: amqp.Table{"x-delay": int64(600_000 * (i + 1))}})
	}
	if _, ok, err := c.Get("orders", false); err != nil || !ok {
		b.Fatal(ok, err)
	}
	c.put("", "dead", amqp.Publishing{Body: []byte("dies")})
}

// The page of a queue shows the figures, settings, messages, locks and schedule of the API; viewing it changes nothing.
func TestPageQueue(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	worked(b)
	w := br.open(b, "#/queues").asGuest()
	w.click("a.name", "orders")
	for _, text := range []string{"Ready\n2", "Unacked\n1", "Scheduled\n3", "a basic.get", "Policy\nshort", "Operator policy\nroof", "1 h 23 min"} {
		w.sees(text)
	}
	for _, says := range []string{"1 message, 1 min to 1 h: dead-lettered", "1 message, 1 h to 1 d: dead-lettered", "3 messages, 1 min to 1 h: delivered by schedule", "1 queue, 1 h to 1 d: queue ends", "1 message, 1 min to 1 h: lock returns"} {
		w.until(fmt.Sprintf("[...document.querySelectorAll('.strip a')].some((a) => a.getAttribute('aria-label') === %q)", says+". Show them."))
	}
	t.Run("peek", func(t *testing.T) { pagePeeks(w, b) })
	t.Run("locks", func(t *testing.T) { pageLocks(w, b) })
	t.Run("scheduled", func(t *testing.T) { pageSchedules(w, b) })
	t.Run("settings", func(t *testing.T) { pageSettings(w, b) })
	t.Run("publish", func(t *testing.T) { pagePublishes(w, b) })
	t.Run("purge and delete", func(t *testing.T) { pagePurges(w, b) })
}

// pagePeeks views messages, none of which is consumed or marked as redelivered.
func pagePeeks(w *tab, b *broker) {
	w.Helper()
	const lease = "/api/queues/%2F/orders?columns=lease_expires_at,lease_renewed_at,lease_renewed_by"
	before := b.request("GET", lease, "", 200)
	w.click(".parts a", "Messages")
	w.until("document.querySelectorAll('button.open').length === 6")
	w.sees("no message is taken or marked as redelivered. No lease is renewed.")
	_ = eval[bool](w, "(document.querySelectorAll('button.open')[1].click(), document.querySelectorAll('button.open')[2].click(), true)")
	w.until("document.querySelectorAll('pre').length === 2")
	for _, text := range []string{"x-kind\nsmall", "big\n1152921504606846977", "content_type\napplication/json", "  \"item\": \"candle\"", "00000000  00 ff 41 ", "expires in "} {
		w.sees(text)
	}
	w.click("tr.opened button", "Text")
	w.sees(`{"item":"candle","n":[1,2]}`)
	w.click("tr.opened button", "Hex")
	w.sees("00000010  2c 22 6e 22")
	w.click("button", "Peek again")
	w.until("document.querySelectorAll('pre').length === 0")
	if after := b.request("GET", lease, "", 200); after != before {
		w.Errorf("the lease was %s, is %s", before, after)
	}
	for _, m := range b.peeked("orders", "ready") {
		if m.Redelivered {
			w.Errorf("%+v", m)
		}
	}
	w.do(chromedp.Navigate(w.url("#/queue/%2F/expired?show=messages")))
	w.until("document.querySelectorAll('button.open').length === 1")
	_ = eval[bool](w, "(document.querySelector('button.open').click(), true)")
	for _, text := range []string{"Entered queue dead through the default exchange, routing key dead.", "There it expired", "Entered this queue through the default exchange, routing key expired."} {
		w.sees(text)
	}
	w.do(chromedp.Navigate(w.url("#/queue/%2F/orders")))
	w.click(".parts a", "Overview")
	bar := "[...document.querySelectorAll('.strip a')].find((a) => a.getAttribute('aria-label').startsWith('1 message, 1 min to 1 h: dead'))"
	w.until(bar + " !== undefined")
	_ = eval[bool](w, "("+bar+".focus(), true)")
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until("document.querySelectorAll('button.open').length === 2 && document.querySelector('td .value') !== null")
}

// pageLocks renews a lock.
func pageLocks(w *tab, b *broker) {
	w.Helper()
	until := func() string { return b.request("GET", "/api/x/queues/%2F/orders/unacked", "", 200) }
	before := until()
	w.click(".parts a", "Locks")
	w.sees("basic.get")
	w.click("td button", "Renew")
	w.sees("now ends at ")
	if after := until(); after == before {
		w.Errorf("the lock is as it was: %s", after)
	}
	w.click("td button", "Return…")
	w.sees("is taken back from basic.get, returns to its place in the queue")
	w.click("dialog button", "Return it")
	w.sees("is in the queue again.")
	w.sees("No message is locked.")
	if m := b.peeked("orders", "ready")[0]; m.Payload != "held" || !m.Redelivered {
		w.Errorf("%+v", m)
	}
	if _, ok, err := b.dialWith(amqp.Config{Heartbeat: time.Minute}).Get("orders", false); err != nil || !ok { // locked again
		w.Fatal(ok, err)
	}
}

// pageSchedules reschedules a message, and cancels one.
func pageSchedules(w *tab, b *broker) {
	w.Helper()
	before := b.peeked("orders", "scheduled")
	w.click(".parts a", "Scheduled")
	w.until("document.querySelectorAll('tbody tr').length === 3")
	w.click("tbody tr:first-child button", "Reschedule…")
	_ = eval[bool](w, "(document.querySelector('dialog input[name=delay]').value = '100', true)")
	w.click("dialog button", "Reschedule")
	w.until("document.querySelector('dialog') === null")
	w.sees("is now due at ")
	w.until("document.querySelector('tbody tr td:nth-child(2)').textContent === 'invoice-1'")
	due := "document.querySelector('dialog input[name=due]')" // at a date
	w.click("tbody tr:last-child button", "Reschedule…")
	_ = eval[bool](w, "("+due+".value = '2030-01-02T03:04:05', "+due+".dispatchEvent(new Event('input')), true)")
	w.until("document.querySelector('dialog input[name=delay]').matches(':disabled')")
	w.click("dialog button", "Reschedule")
	w.until("document.querySelector('dialog') === null")
	w.sees("is now due at 2030-01-02 03:04:05.000")
	w.click("tbody tr:first-child button", "Cancel…")
	w.sees("1 message is dropped, not dead-lettered: " + before[1].ID + " (message_id invoice-1)")
	w.click("dialog button", "Drop it")
	w.until("document.querySelectorAll('tbody tr').length === 2")
	after := b.peeked("orders", "scheduled")
	if len(after) != 2 || after[0].ID != before[2].ID || after[1].ID != before[0].ID || after[1].Due <= before[2].Due {
		w.Errorf("before %+v, after %+v", before, after)
	}
	w.sees("Scheduled\n2")
	w.click(".buttons button", "Reschedule several…")
	_ = eval[bool](w, "(document.querySelector('dialog input[name=due_after]').value = '2030-01-01T00:00:00', true)")
	w.shoot("reschedule-several-dialog")
	w.click("dialog button", "Reschedule")
	w.sees("1 message now. Press Reschedule again to change it.")
	w.click("dialog button", "Reschedule")
	w.sees("1 message now due at ")
	w.click(".buttons button", "Cancel several…")
	w.fill("dialog input[name=headers]", `["x"]`)
	w.click("dialog button", "Drop them")
	w.sees("headers must be a JSON object")
	w.fill("dialog input[name=headers]", `{"none":1}`)
	w.click("dialog button", "Drop them")
	w.sees("There is no such message.")
	w.click("dialog button", "Cancel")
	w.until("document.querySelector('dialog') === null")
	if last := b.peeked("orders", "scheduled"); len(last) != 2 || last[1].Due >= "2030" {
		w.Errorf("rescheduled by a filter: %+v", last)
	}
}

// pageSettings checks the shown origin of a setting.
func pageSettings(w *tab, b *broker) {
	w.Helper()
	w.click(".parts a", "Settings")
	rows := func() []string {
		return eval[[]string](w, "[...document.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent).join('|'))")
	}
	w.sees("max-length-bytes")
	got := strings.Join(rows(), "\n")
	for _, want := range []string{"message-ttl|1 h 57 min (7,000,000 ms)|policy|2 h 30 min|1 h 57 min (7,000,000 ms)|–|", "max-length|500|operator policy|–|–|500|", "expires|1 h 23 min (5,000,000 ms)|argument|1 h 23 min (5,000,000 ms)|–|–|", "overflow|drop-head|default|–|–|–|"} {
		if !strings.Contains("\n"+got, "\n"+want) {
			w.Errorf("no %q in\n%s", want, got)
		}
	}
	w.click(".parts a", "Bindings")
	w.until("document.querySelector('tbody td')?.textContent === '(default exchange)'")
	c := b.dial()
	if _, err := c.Consume("expired", "worker <b>", true, false, false, false, nil); err != nil {
		w.Fatal(err)
	}
	w.do(chromedp.Navigate(w.url("#/queue/%2F/expired?show=consumers")))
	w.sees("worker <b>")
	w.do(chromedp.Navigate(w.url("#/queue/%2F/orders")))
	w.sees("Operator policy\nroof")
}

// pagePublishes publishes a message with all fields of the form.
func pagePublishes(w *tab, b *broker) {
	w.Helper()
	w.click("button", "Publish…")
	w.fill("dialog textarea[name=payload]", "later on")
	w.fill("dialog textarea[name=headers]", `["x"]`)
	w.click("dialog button", "Publish")
	w.sees("The headers are not a JSON object.")
	w.fill("dialog textarea[name=headers]", `{"x-name":"<i>v</i>"}`)
	w.fill("dialog input[name=ttl]", "5")
	w.fill("dialog input[name=delay]", "2")
	w.shoot("publish-dialog")
	w.click("dialog button", "Publish")
	w.until("document.querySelector('dialog') === null")
	w.sees("The message has been published.")
	m := b.peeked("orders", "scheduled")[0]
	headers, _ := m.Properties["headers"].(map[string]any)
	if m.Payload != "later on" || m.Properties["expiration"] != "300000" || headers["x-name"] != "<i>v</i>" || headers["x-delay"] != 120000. {
		w.Errorf("%+v", m)
	}
}

// pagePurges purges and deletes after a confirmation.
func pagePurges(w *tab, b *broker) {
	w.Helper()
	w.sees("Scheduled\n3")
	w.click("button", "Purge…")
	w.sees("up to 3 messages, excluding unacked ones. Plus 3 scheduled messages.")
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until("document.querySelector('dialog') === null")
	w.click("button", "Purge…")
	w.click("dialog button", "Purge")
	w.sees("Ready\n0")
	w.sees("Unacked\n1")
	w.refused = append(w.refused, "orders")
	w.click("button", "Delete…")
	w.sees("All messages in them are lost: 1 message now.")
	_ = eval[bool](w, "(document.querySelectorAll('dialog input[type=checkbox]').forEach((c) => { c.checked = false }), true)")
	w.click("dialog button", "Delete")
	w.sees("There is no queue of this name.")
	b.request("GET", "/api/queues/%2F/orders", "", 404)
}

// Headers, payloads and names of messages are shown as text.
func TestPageQueueShowsText(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	name := hostile[0]
	c.queue(name, amqp.Table{"x-expires": int64(90_000_000), "x-delayed-messages": true, "x-consumer-timeout": int64(90_000_000), "x-" + hostile[1]: hostile[2]})
	b.request("PUT", "/api/policies/%2F/"+url.PathEscape(hostile[1]), `{"pattern":".*","definition":{"max-length":50000}}`, 201)
	for i, text := range hostile {
		headers := amqp.Table{"h" + text: text, "list": []any{text, amqp.Table{text: text}}, "x-death": []any{amqp.Table{"queue": text, "reason": text, "exchange": text, "routing-keys": []any{text}, "original-expiration": text}}}
		c.put("", name, amqp.Publishing{Body: []byte(text), Headers: headers, ContentType: text, MessageId: text, Type: text, AppId: text})
		if i < 3 {
			headers["x-delay"] = int64(1_000_000)
			c.put("", name, amqp.Publishing{Body: []byte(text), Headers: headers, MessageId: text})
		}
	}
	if _, err := c.Consume(name, hostile[4], false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	w := br.open(b, "#/queue/%2F/"+url.PathEscape(name)+"?show=messages").asGuest()
	w.until(fmt.Sprintf("document.querySelectorAll('button.open').length === %d", len(hostile)+3))
	_ = eval[bool](w, "(document.querySelectorAll('button.open').forEach((e) => e.click()), true)")
	for _, text := range hostile {
		w.until(fmt.Sprintf("[...document.querySelectorAll('pre')].some((e) => e.textContent === %q) && [...document.querySelectorAll('dd')].some((e) => e.textContent === %q)", text, text))
	}
	for _, part := range []string{"Locks", "Scheduled", "Settings", "Bindings", "Consumers", "Overview"} {
		w.click(".parts a", part)
		w.until("document.querySelector('.parts + * + div').childElementCount > 0 && (document.querySelector('tbody') !== null || document.querySelector('.strip') !== null)")
	}
	w.onlyText()
}

// Users who may not read the queue see its figures and the reason for which its messages are not shown; the page of a queue whose
// lease is renewed by peeking says so.
func TestPageQueueOfOtherUsers(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	worked(b)
	b.dial().queue("watched", amqp.Table{"x-expires": int64(5_000_000), "x-expires-renewed-by": "publish, peek"})
	b.request("PUT", "/api/users/man", `{"password":"p","tags":"management"}`, 201)
	b.request("PUT", "/api/permissions/%2F/man", `{"configure":"","write":"","read":"^watched$"}`, 201)
	w := br.open(b, "#/queue/%2F/orders")
	w.logIn("man", "p")
	w.sees("Locks are not counted: ")
	w.sees("Ready\n2")
	for _, part := range []string{"messages", "locks", "scheduled"} {
		w.at("#/queue/%2F/orders?show=" + part)
		w.sees("You may not read this queue.")
	}
	w.click(".parts a", "Settings")
	w.sees("Only users with the tag policymaker see")
	w.until("[...document.querySelectorAll('tbody tr')].some((r) => r.textContent === 'message-ttl–?2 h 30 min1 h 57 min (7,000,000 ms)')")
	w.do(chromedp.Navigate(w.url("#/queue/%2F/watched?show=messages")))
	w.sees("Each peek renews the lease, as configured.")
	w.sees("There are no such messages.")
	w.click(".parts a", "Overview")
	w.sees("By\na peek")
}
