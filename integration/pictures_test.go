package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	amqp "github.com/rabbitmq/amqp091-go"
)

// axe detects accessibility problems of a page.
var axe = foreign{name: "axe-core", where: npm, probe: []string{"node", "-e", "require('axe-core')"}}

// lively declares queues with pending deadlines of each kind.
func lively(b *broker) {
	c := b.dial()
	c.queue("orders.new", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders.dead"})
	c.queue("orders.dead", nil)
	c.queue("sessions", nil)
	c.queue("reply.7f3a", amqp.Table{"x-expires": int64(1_800_000)})
	c.queue("jobs", amqp.Table{"x-consumer-timeout": int64(900_000), "x-delayed-messages": true})
	b.request("PUT", "/api/policies/%2F/orders", `{"pattern":"^orders","definition":{"max-length":100000}}`, 201)
	for i, ttl := range []string{"45000", "90000", "400000", "1200000", "7200000", "80000000", "500000000", "2000000000", "3000000000"} {
		for range i*i*7%60 + 1 {
			c.put("", "sessions", amqp.Publishing{Expiration: ttl, Body: []byte("x")})
		}
		for range 40 / (i + 1) {
			c.put("", "orders.new", amqp.Publishing{Expiration: ttl, Body: []byte("order")})
		}
	}
	for i := range 30 {
		c.put("", "jobs", amqp.Publishing{Headers: amqp.Table{"x-delay": int64(1000 * (60 + i*i*20))}, Body: []byte("later")})
	}
	c.send("jobs", strings.Fields(strings.Repeat("now ", 12))...)
	for range 5 {
		if _, ok, err := c.Get("jobs", false); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

// axeScript returns axe's script, which must run in a page before it is checked; the test is skipped if axe is not installed.
func axeScript(t *testing.T) string {
	t.Helper()
	axe.want(t)
	file, err := exec.CommandContext(t.Context(), "node", "-p", "require.resolve('axe-core/axe.min.js')").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(strings.TrimSpace(string(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each page is accessible, in light and dark, and without horizontal scrolling on a small screen.
func TestPagesForEverybody(t *testing.T) {
	t.Parallel()
	br, b, script := newBrowser(t), start(t), axeScript(t)
	lively(b)
	worked(b)
	sendsOn(b, 4) // the smallest ladder that the graph recognizes: axe's time grows with the rows of the lists
	w := br.open(b, "")
	pictures(w, func(page string) {
		t.Helper()
		for _, l := range []look{{400, 800}, desktop} {
			w.resize(l)
			for _, scheme := range []string{"light", "dark"} {
				name := fmt.Sprintf("%s-%d-%s", page, l.width, scheme)
				w.scheme(scheme)
				w.shoot(name)
				accessible(w, name, int(l.width), script, scheme == "dark")
			}
		}
	})
}

// pictures opens all pages.
func pictures(w *tab, check func(page string)) {
	w.Helper()
	w.until("document.querySelector('.login') !== null")
	check("login")
	w.asGuest()
	w.until("document.querySelectorAll('.strip rect').length > 10 && document.querySelector('.chart polyline') !== null && document.querySelector('.late').textContent !== ''")
	check("now")
	_ = eval[bool](w, "(document.querySelectorAll('.figures summary').forEach((s) => s.click()), true)")
	check("now-figures")
	w.click("nav a", "Queues")
	w.sees("orders.new")
	check("queues")
	_ = eval[bool](w, "(document.querySelector('.tools details').open = true)")
	check("queues-filters")
	_ = eval[bool](w, "(document.querySelectorAll('.tools details').forEach((d) => { d.open = !d.open }), true)")
	check("queues-columns")
	_ = eval[bool](w, "(document.querySelector('.tools details:last-child').open = false, document.querySelector('thead input').click(), true)")
	w.click("button", "Set policy…")
	check("queues-policy")
	w.click("dialog button", "Cancel")
	w.click("button", "Delete…")
	check("queues-delete")
	w.click("dialog button", "Cancel")
	pictureQueue(w, check)
	lists(w, check)
}

// pictureQueue opens all parts of a queue's page.
func pictureQueue(w *tab, check func(string)) {
	w.Helper()
	w.do(chromedp.Navigate(w.url("#/queue/%2F/orders")))
	w.until("document.querySelectorAll('.strip rect').length > 4 && document.querySelector('.facts') !== null")
	check("queue")
	w.click(".parts a", "Messages")
	w.until("document.querySelectorAll('button.open').length === 6")
	check("queue-messages")
	_ = eval[bool](w, "(document.querySelectorAll('button.open')[1].click(), document.querySelectorAll('button.open')[2].click(), true)")
	check("queue-message")
	for _, part := range []string{"Locks", "Scheduled", "Settings", "Bindings", "Consumers"} {
		w.click(".parts a", part)
		w.until("document.querySelector('tbody td, .empty') !== null")
		check("queue-" + strings.ToLower(part))
	}
	w.click("button", "Publish…")
	check("queue-publish")
	w.click("dialog button", "Cancel")
	w.click(".parts a", "Scheduled")
	w.click("td button", "Reschedule…")
	check("queue-reschedule")
	w.click("dialog button", "Cancel")
	w.do(chromedp.Navigate(w.url("#/queue/%2F/expired?show=messages")))
	w.until("document.querySelectorAll('button.open').length === 1")
	_ = eval[bool](w, "(document.querySelector('button.open').click(), true)")
	check("queue-story")
}

// accessible asserts that a page is no wider than its window, shows no internal values such as NaN, and that axe finds no
// problem. With colours only its colour rules run, for a page already checked in another scheme: TestColours ensures that nothing
// else depends on the scheme.
func accessible(w *tab, page string, width int, axe string, colours bool) {
	w.Helper()
	if wide := eval[int](w, "document.documentElement.scrollWidth"); wide > width {
		w.Errorf("%s is %d wide", page, wide)
	}
	if wrong := eval[string](w, `document.body.innerText.match(/.*\b(NaN|undefined|Invalid Date|\[object).*/)?.[0] ?? ""`); wrong != "" {
		w.Errorf("%s says %q", page, wrong)
	}
	if !eval[bool](w, "'axe' in window") { // the script is large
		_ = eval[bool](w, axe+"; true")
	}
	options := "{resultTypes: ['violations']}"
	if colours { // its default rules about colours
		options = "{resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block']}"
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	if err := json.Unmarshal([]byte(eval[string](w, "axe.run("+options+").then((r) => JSON.stringify(r.violations))")), &found); err != nil {
		w.Fatal(err)
	}
	for _, v := range found {
		w.Errorf("%s: %s, %s: %s\n%+v", page, v.Impact, v.ID, v.Help, v.Nodes)
	}
}
