package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// sendsOn declares queues that send messages on in all ways: a cycle, dead ends, forwarding and a ladder of delay queues.
func sendsOn(b *broker, levels int) {
	b.Helper()
	c := b.dial()
	exchange := func(name, kind string) { c.must(c.ExchangeDeclare(name, kind, true, false, false, false, nil)) }
	exchange("sales.dlx", "direct")
	exchange("archive", "fanout")
	exchange("delivery", "topic")
	dlx := func(exchange string) amqp.Table { return amqp.Table{"x-dead-letter-exchange": exchange} }
	c.queue("sales", amqp.Table{"x-dead-letter-exchange": "sales.dlx", "x-dead-letter-routing-key": "retry", "x-max-length": int64(2)})
	c.queue("sales.retry", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "sales", "x-message-ttl": int64(3_600_000)})
	c.must(c.QueueBind("sales.retry", "retry", "sales.dlx", false, nil))
	c.queue("invoices", amqp.Table{"x-dead-letter-exchange": "sales.dlx", "x-dead-letter-routing-key": "invoices"})
	c.queue("mails", dlx("forgotten"))
	c.queue("log", amqp.Table{"x-forward-to": "archive"})
	c.queue("tasks", nil)
	c.must(c.QueueBind("tasks", "#.tasks", "delivery", false, nil))
	below := "delivery"
	for n := range levels {
		level := fmt.Sprint("celery_delayed_", n)
		exchange(level, "topic")
		c.queue(level, amqp.Table{"x-dead-letter-exchange": below, "x-message-ttl": int64(1000 << n)})
		c.must(c.QueueBind(level, strings.Repeat("*.", levels-1-n)+"1.#", level, false, nil))
		c.must(c.ExchangeBind(below, strings.Repeat("*.", levels-1-n)+"0.#", level, false, nil))
		below = level
	}
	c.send("sales", "a", "b", "c", "d", "e")
}

// The graph shows the flow of the API: cycles and dead ends are marked, ladders are one node.
func TestPageFlow(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	sendsOn(b, 12)
	for _, name := range hostile {
		b.dial().queue(name, amqp.Table{"x-dead-letter-exchange": name, "x-dead-letter-routing-key": name})
	}
	w := br.open(b, "#/flow").asGuest()
	w.sees(fmt.Sprintf("%d queues forward messages. 1 cycle, ", 17+len(hostile)))
	labels := func() []string {
		return eval[[]string](w, "[...document.querySelectorAll('.flow g title')].map((e) => e.textContent)")
	}
	for _, want := range []string{
		"sales, queue · ⟳ cycle", "sales.dlx, exchange · ⟳ cycle", "sales.retry, queue · ⟳ cycle", "forgotten, exchange · ✕ no such exchange", "archive, exchange · ✕ no binding",
		"celery_delayed_0…11, 23 queues and exchanges", "delivery, exchange", "tasks, queue", hostile[1] + ", exchange · ✕ no such exchange",
	} {
		if !slices.Contains(labels(), want) {
			t.Errorf("%q is not shown, but %q", want, labels())
		}
	}
	edges := eval[string](w, "[...document.querySelectorAll('.flow > text')].map((e) => e.textContent).join('|')")
	if !strings.Contains(edges, "maxlen 3") || !strings.Contains(edges, "✕ no binding") {
		t.Error(edges)
	}
	c := b.dial()
	for range 10 {
		c.send("sales", strings.Fields(strings.Repeat("x ", 20))...)
	}
	w.until("[...document.querySelectorAll('.flow > text')].some((e) => /^maxlen [0-9.]+\\/s$/.test(e.textContent))")
	w.click(".check", "fold similar queues")
	w.until("[...document.querySelectorAll('.flow g title')].some((e) => e.textContent === 'celery_delayed_7, queue')")
	w.fill("input[type=search]", "FORGOTTEN")
	w.sees("1 queue forwards messages. 0 cycles, 1 dead end.")
	if got := labels(); !slices.Equal(got, []string{"mails, queue", "forgotten, exchange · ✕ no such exchange"}) {
		t.Errorf("%q", got)
	}
	w.until("location.hash === '#/flow?vhost=%2F&name=FORGOTTEN'")
	w.click("summary", "As a table")
	w.sees("forgotten, not there")
	w.onlyText("main b", "main img", "main script")
	_ = eval[bool](w, "(document.querySelector('.flow a').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})), true)")
	w.until("location.hash === '#/queue/%2F/mails'")
}

// Queues that all lead to one target are one node, and labels overlap neither each other nor nodes.
func TestPageFlowFans(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	c.must(c.ExchangeDeclare("dlx", "fanout", true, false, false, false, nil))
	for _, name := range []string{"dead", "audit", "copies"} {
		c.queue(name, amqp.Table{"x-dead-letter-exchange": "dlx", "x-max-length": int64(1)}) // cycles, with labels on the way back
		c.must(c.QueueBind(name, "", "dlx", false, nil))
	}
	for i := range 12 {
		name := fmt.Sprintf("orders.%d", i)
		c.queue(name, amqp.Table{"x-dead-letter-exchange": "dlx", "x-message-ttl": int64(1), "x-max-length": int64(2)})
		c.send(name, "1", "2", "3", "4")
	}
	w := br.open(b, "#/flow").asGuest()
	w.until("[...document.querySelectorAll('.flow g title')].some((e) => e.textContent === 'orders.…, 12 queues')")
	w.until("[...document.querySelectorAll('.flow > text')].filter((e) => e.textContent !== '').length >= 3")
	w.shoot("flow-fan")
	clash := `(() => {
		const box = (e) => e.getBoundingClientRect(), over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
		const labels = [...document.querySelectorAll('.flow > text')].filter((e) => e.textContent !== ''), nodes = [...document.querySelectorAll('.flow rect')];
		for (const [i, l] of labels.entries()) {
			const hit = [...labels.slice(i + 1), ...nodes].find((o) => over(box(l), box(o)));
			if (hit) return l.textContent + ' over ' + (hit.textContent || hit.parentNode.textContent);
		}
		return '';
	})()`
	if found := eval[string](w, clash); found != "" {
		t.Error(found)
	}
	w.click(".check", "fold similar queues")
	w.until("[...document.querySelectorAll('.flow g title')].some((e) => e.textContent === 'orders.7, queue')")
	if found := eval[string](w, clash); found != "" {
		t.Error(found)
	}
	w.shoot("flow-unfolded")
}

// A thousand nodes are drawn, and a note says that there are more.
func TestPageFlowOfMany(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	for i := range 1100 {
		c.queue(fmt.Sprintf("q%04d", i), amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": fmt.Sprintf("q%04d", (i*7+3)%1200)})
	}
	w := br.open(b, "#/flow").asGuest()
	w.sees("1,100 queues forward messages.")
	w.sees("Too many to show: use the filter.")
	w.until("document.querySelectorAll('.flow g').length === 1000")
	w.shoot("flow-many")
}
