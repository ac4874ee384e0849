package mail

import (
	"candlemark/policies"
	"candlemark/policies/changes"
)

// What those tell a queue who keep it: its vhost, and supervision.

// Configure gives a queue its settings after a policy change. From its vhost;
// no reply: mail order is what later publishes rely on (PRO-15).
type Configure struct {
	Effective policies.Effective
	Settings  policies.QueueSettings
}

// PreviewSettings asks a queue what other settings would do to its messages, without giving them to it. From the
// administrator; SettingsPreview comes back, when the queue has gone over its messages, some of them in each turn. A question
// that comes before that takes the place of this one, which is then answered with an error.
type PreviewSettings struct {
	Request
	Settings policies.QueueSettings
}

// Answer implements Answerable.
func (p *PreviewSettings) Answer(f Fate) (Address, any) {
	return p.ReplyTo, &SettingsPreview{Reply: p.Done(gone(f, "", ""))}
}

// SettingsPreview answers PreviewSettings.
type SettingsPreview struct {
	Reply
	changes.Messages
}

// Trim asks a queue to let contents leave memory for the journal, as far as the
// budget of all queues demands it. From supervision while memory is tight, so
// that queues without traffic page out as well; no reply, renews no lease.
type Trim struct{}

// ClockJumped tells a queue that the machine has slept, so that its timer is late. From
// supervision; no reply, and mail that is under way may find out before.
type ClockJumped struct{}

// Wake ends the sleep of a queue that was started with what a journal had of it
// (queue.Config.Asleep): exchanges and bindings are whole and policies in force,
// so what is overdue can be dead-lettered (TTL-26). From its vhost; QueueAwake
// comes back when nothing overdue is left ready.
type Wake struct{ Request }

// Answer implements Answerable.
func (w *Wake) Answer(f Fate) (Address, any) {
	return w.ReplyTo, &QueueAwake{Reply: w.Done(gone(f, "", ""))}
}

// QueueAwake answers Wake.
type QueueAwake struct{ Reply }

// QueueForgotten answers QueueRetiring: name and bindings are unpublished, the
// queue may end.
type QueueForgotten struct{}

// QueueKept answers QueueRetiring: somebody declared the queue meanwhile, it
// goes on (PRO-3).
type QueueKept struct{}
