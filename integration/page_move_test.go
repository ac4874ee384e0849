package integration

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// died declares a durable queue and dead-letters all of its messages to a queue called dead.
func died(b *broker, c *client, count int) {
	b.Helper()
	c.durable("dead", nil)
	c.durable("orders", amqp.Table{"x-message-ttl": int64(1), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	bodies := make([]string, count)
	for i := range bodies {
		bodies[i] = strconv.Itoa(i)
	}
	c.persistent("orders", bodies...)
	for b.holds("dead") < count {
		runtime.Gosched()
	}
	_, err := c.QueueDelete("orders", false, false, false)
	c.must(err)
	c.durable("orders", nil)
}

// The page moves dead letters back to the queue where they died: selected ones, then all; it previews the effect and shows the
// progress.
func TestPageMove(t *testing.T) {
	t.Parallel()
	script := axeScript(t)
	br, b := newBrowser(t), start(t)
	died(b, b.dial(), 20)
	w := br.open(b, "#/queue/%2F/dead?show=messages").asGuest()
	w.until("document.querySelectorAll('button.open').length === 20")
	if !eval[bool](w, "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Move selected…').disabled") {
		t.Error("nothing is selected and can be moved")
	}
	_ = eval[bool](w, "(document.querySelectorAll('td.pick input')[3].click(), document.querySelectorAll('td.pick input')[5].click(), true)")
	w.click("button", "Move selected…")
	w.sees("2 selected messages of dead")
	w.click("dialog button", "Preview")
	w.sees("2 messages would go to orders")
	w.shoot("move-dialog")
	accessible(w, "move-dialog", int(desktop.width), script, false)
	w.click("dialog button", "Move 2 messages")
	w.until("document.querySelector('dialog') === null")
	w.sees("Move 1: finished. 2 messages moved, 0 left.")
	w.until("document.querySelectorAll('button.open').length === 18")
	w.click("button", "Move all…")
	_ = eval[bool](w, "((s) => { s.value = 'queue'; s.dispatchEvent(new Event('input', { bubbles: true })); return true; })(document.querySelector('dialog select[name=to]'))")
	w.refused = append(w.refused, "move")
	w.fill("dialog input[name=queue]", "none")
	w.click("dialog button", "Preview")
	w.sees("no queue 'none' in vhost '/'")
	_ = eval[bool](w, "((s) => { s.value = 'origin'; s.dispatchEvent(new Event('input', { bubbles: true })); return true; })(document.querySelector('dialog select[name=to]'))")
	w.fill("dialog input[name=rate]", "1")
	w.click("dialog button", "Preview")
	w.sees("18 messages would go to orders")
	w.click("dialog button", "Move 18 messages")
	w.click("button", "Stop move 2")
	w.sees("Move 2: stopped.")
	if n, all := b.holds("orders"), b.holds("orders")+b.holds("dead"); n < 2 || n == 20 || all != 20 {
		t.Errorf("%d are back, %d in all", n, all)
	}
}

// A broker that is killed during a move loses no message; the page can continue with the rest.
func TestPageMoveCrash(t *testing.T) {
	t.Parallel()
	const all = 900
	dir := filepath.Join(t.TempDir(), "data")
	br, b := newBrowser(t), startIn(t, dir)
	died(b, b.dial(), all)
	begin := func(b *broker, rate string) *tab {
		w := br.open(b, "#/queue/%2F/dead?show=messages").asGuest()
		w.click("button", "Move all…")
		if rate != "" {
			w.fill("dialog input[name=rate]", rate)
		}
		w.click("dialog button", "Preview")
		w.sees("would go to orders")
		left := b.holds("dead")
		w.click("dialog button", fmt.Sprintf("Move %d messages", left))
		w.until("document.querySelector('dialog') === null")
		return w
	}
	w := begin(b, "20")
	w.sees("Move 1: running.")
	w.refused = append(w.refused, "127.0.0.1") // the broker is killed
	for b.holds("orders") == 0 {
		b.holds("dead")
	}
	b.kill()
	b = startIn(t, dir)
	doubled := b.holds("dead") + b.holds("orders") - all
	if doubled < 0 || doubled > maxDoubled || b.holds("dead") == 0 {
		t.Fatalf("%d doubled, %d left", doubled, b.holds("dead"))
	}
	begin(b, "").sees("Move 1: finished.")
	seen := map[string]bool{}
	for d := range b.dial().taken("orders") {
		seen[string(d.Body)] = true
	}
	if len(seen) != all || b.holds("dead") != 0 {
		t.Errorf("%d of %d are back, %d are left", len(seen), all, b.holds("dead"))
	}
	b.stop()
}
