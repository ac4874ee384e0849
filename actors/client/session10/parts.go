package session10

import (
	"candlemark/actors/client/input"
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
)

// A session consists of parts with their own state (ADR 134): queues (actors/client/queues), output (write.go, held.go,
// outcomes.go), receiving (receive.go), settling (settle.go), publishing (publish.go, batch.go, long.go, transactions.go) and
// answering (nodes.go, replies.go). A part uses only parts before it in this list, and reports to the session through whole.

// base has the fields that all parts share.
type base struct {
	*outgoing.Mail
	cfg    *Config
	in     *input.Input
	counts *mail.Counts // of the session; each part counts what it does
	up     whole
}

// whole is the session as its parts need it.
type whole interface {
	// fail ends the session with an error.
	fail(err error)
	// failLink detaches a link with an error.
	failLink(l *link, err error)
	// attach attaches a link, or refuses it.
	attach(m *amqp10.Attach)
	// attachFailed refuses a link, or ends the session.
	attachFailed(m *amqp10.Attach, d dialects.Dialect, err error)
}
