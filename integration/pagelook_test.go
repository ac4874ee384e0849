package integration

import (
	"fmt"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// wrapped changes the answers of the API about queues, as the page then sees them: queue b does not answer.
const wrapped = `(() => {
	const real = window.fetch;
	window.fetch = async (...args) => {
		const answer = await real(...args);
		if (!String(args[0]).includes('api/queues')) return answer;
		const down = (q) => (q.name === 'b' ? { ...q, state: 'down', messages_ready: 0, messages_unacknowledged: 0, memory: 0 } : q);
		const body = await answer.json();
		const changed = body.items ? { ...body, items: body.items.map(down) } : down(body);
		return new Response(JSON.stringify(changed), { status: answer.status, headers: { 'content-type': 'application/json' } });
	};
	return true;
})()`

// A queue that does not answer has no numbers: the list and its own page show a dash, not zeros.
func TestPagesOfQueuesThatAreDown(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	c.queue("a", nil)
	c.queue("b", nil)
	c.send("a", "x")
	w := br.open(b, "#/queues").asGuest()
	w.until("document.querySelectorAll('.items tbody tr').length === 2")
	_ = eval[bool](w, wrapped)
	w.until("[...document.querySelectorAll('.items tbody [data-column=state]')].map((e) => e.textContent).join() === 'running,down'")
	for column, want := range map[string][]string{"ready": {"1", "–"}, "unacked": {"0", "–"}, "scheduled": {"0", "–"}} {
		if got := w.rows(column); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
	w.at("#/queue/%2F/b")
	w.until(`!/(Ready|Unacked|Scheduled|Memory)\n0/.test(document.querySelector('main').innerText) && /Ready\n–/.test(document.querySelector('main').innerText)`)
}

// A preview of a policy that would remove messages marks its sentence and its button; one that removes nothing does not.
func TestPreviewsThatRemoveMessages(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	c.queue("orders", nil)
	c.send("orders", "a", "b", "c")
	w := br.open(b, "#/policies").asGuest()
	w.opens("Add policy…")
	w.refused = []string{"preview"}
	w.fill("dialog input[name=name]", "short")
	w.fill("dialog input[name=pattern]", "^orders$")
	w.fill("dialog .rows input", "max-length")
	colours := func() (button, ink string) {
		button = eval[string](w, "getComputedStyle(document.querySelector('dialog button[type=submit]')).color")
		return button, eval[string](w, "getComputedStyle(document.querySelector('dialog .preview p:last-of-type')).color")
	}
	w.fill("dialog .rows input:nth-child(2)", "50")
	w.sees("Applies to 1 queue.")
	w.until("!document.querySelector('dialog button[type=submit]').disabled")
	safe, plain := colours()
	w.fill("dialog .rows input:nth-child(2)", "1")
	w.sees("Dropped at once by the length limit: 2 messages.")
	w.until("!document.querySelector('dialog button[type=submit]').disabled")
	if button, ink := colours(); button == safe || ink == plain || button != ink {
		t.Errorf("button %s, before %s; sentence %s, before %s", button, safe, ink, plain)
	}
	w.shoot("policy-removes")
	w.fill("dialog .rows input", "message-ttl")
	w.until("document.querySelector('#policy-keys option[value=message-ttl]').label === 'time after which messages expire (ms)'")
	w.click("dialog button", "Cancel")
}

// The list of queues is in the order that people count in, shortens long names in their middle, shows what a queue has, and mutes zeros.
func TestPageQueuesAtAGlance(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	long := "orders.europe.west.customers.with.a.very.long.name.and.its.retries.10min"
	for name, args := range map[string]amqp.Table{
		"q1": nil, "q2": {"x-message-ttl": 60_000}, "q10": {"x-dead-letter-exchange": ""}, long: nil,
	} {
		c.queue(name, args)
	}
	c.send("q2", "x")
	w := br.open(b, "#/queues").asGuest()
	w.until("document.querySelectorAll('.items tbody tr').length === 4")
	if got := w.rows("name"); !slices.Equal(got, []string{long, "q1", "q2", "q10"}) {
		t.Errorf("order %q", got)
	}
	parts := eval[[]bool](w, `(() => {
		const inside = (e) => e.getBoundingClientRect(), cell = inside(document.querySelector('.items tbody .name').closest('th, td'));
		const [head, tail] = ['.head', '.tail'].map((s) => document.querySelector('.items tbody ' + s));
		return [head.scrollWidth > head.clientWidth, getComputedStyle(head).textOverflow === 'ellipsis',
			tail.textContent === 'ries.10min' && tail.scrollWidth <= tail.clientWidth + 1, inside(tail).right <= cell.right];
	})()`)
	if slices.Contains(parts, false) {
		t.Errorf("a long name: shortened, with an ellipsis, its end readable, inside its cell: %v", parts)
	}
	if title := eval[string](w, "document.querySelector('.items tbody a.name').title"); title != long {
		t.Errorf("the whole name is not shown as a title: %q", title)
	}
	colour := func(row, column string) string {
		return eval[string](w, fmt.Sprintf("(() => { const e = [...document.querySelectorAll('.items tbody tr')].find((r) => r.textContent.startsWith(%q)).querySelector('[data-column=%s]'); return getComputedStyle(e.querySelector('*') ?? e).color; })()", row, column))
	}
	if colour("q1", "ready") == colour("q2", "ready") {
		t.Error("a zero looks like another number")
	}
	if got := w.rows("features"); !slices.Equal(got, []string{"", "", "TTL", "DLX"}) {
		t.Errorf("features %q", got)
	}
}
