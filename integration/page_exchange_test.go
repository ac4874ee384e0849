package integration

import (
	"fmt"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The page of a delayed exchange lists its messages, reschedules and cancels them, for users who may; other exchanges have no such part.
func TestPageDelayedExchange_DLY11(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/users/reader", `{"password":"p","tags":"management"}`, 201)
	b.request("PUT", "/api/permissions/%2F/reader", `{"configure":"","write":"","read":".*"}`, 201)
	c := b.dial()
	c.must(c.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}))
	for i := range 3 {
		c.put("later", "key", amqp.Publishing{MessageId: fmt.Sprintf("invoice-%d", i), Headers: amqp.Table{"x-delay": int32(600_000 * (i + 1))}, Body: []byte("x")})
	}
	w := br.open(b, "#/exchanges").asGuest()
	w.click("a.name", "later")
	w.sees("Messages delayed\n3")
	rows := `[...document.querySelectorAll('[aria-label="Scheduled messages"] tbody tr')]`
	w.until(rows + ".length === 3")
	w.shoot("exchange-delayed")
	w.click("tbody tr:first-child button", "Reschedule…")
	_ = eval[bool](w, "(document.querySelector('dialog input[name=delay]').value = '100', true)")
	w.click("dialog button", "Reschedule")
	w.sees("is now due at ")
	w.until(rows + "[0].cells[1].textContent === 'invoice-1'")
	w.click("tbody tr:first-child button", "Cancel…")
	w.sees("1 message is dropped, not dead-lettered: ")
	w.click("dialog button", "Drop it")
	w.sees("Messages delayed\n2")
	w.until(rows + ".map((r) => r.cells[1].textContent).join() === 'invoice-2,invoice-0'")
	w.at("#/exchanges/%2F/amq.topic")
	w.sees("Nothing is bound to it.")
	if strings.Contains(w.text(), "Delayed messages") {
		t.Error("an exchange that does not delay has delayed messages")
	}
	w.close()
	w = br.open(b, "#/exchanges/%2F/later")
	w.logIn("reader", "p")
	w.until(rows + ".length === 2")
	if strings.Contains(w.text(), "Cancel…") {
		t.Error("a reader is offered to cancel")
	}
}
