package mail

import (
	"candlemark/policies"
	"candlemark/policies/changes"
)

// Mail to a queue from its vhost and from supervision.

// Configure applies new settings to a queue after a policy change. From its vhost; no reply: later publishes see them
// because mail is in order (PRO-15).
type Configure struct {
	Effective policies.Effective
	Settings  policies.QueueSettings
}

// PreviewSettings asks a queue what other settings would do to its messages, without applying them. From the
// administrator; SettingsPreview comes back when the queue has examined its messages, some of them in each turn. A
// second preview replaces the first, which is then answered with an error.
type PreviewSettings struct {
	Request
	Settings policies.QueueSettings
}

// Answer implements Answerable.
func (p *PreviewSettings) Answer(f Cause) (Address, any) {
	return p.ReplyTo, &SettingsPreview{Reply: p.Done(gone(f, "", ""))}
}

// SettingsPreview answers PreviewSettings.
type SettingsPreview struct {
	Reply
	changes.Messages
}

// Trim asks a queue to page contents out, as far as the memory budget of all queues requires. From supervision while
// memory is tight, so that idle queues page out as well; no reply. It does not renew the lease.
type Trim struct{}

// ClockJumped informs a queue that the machine was suspended and its timer is late. From supervision; no reply. The
// queue may notice earlier, from other mail.
type ClockJumped struct{}

// Activate ends the sleep of a queue that was started with records of a journal (queue.Config.Recovering): exchanges and
// bindings are complete and policies in force, so that overdue messages can be dead-lettered (TTL-26). From its vhost;
// ActivateReply comes back when no overdue message is left among the ready ones.
type Activate struct{ Request }

// Answer implements Answerable.
func (w *Activate) Answer(f Cause) (Address, any) {
	return w.ReplyTo, &ActivateReply{Reply: w.Done(gone(f, "", ""))}
}

// ActivateReply answers Wake.
type ActivateReply struct{ Reply }

// QueueForgotten answers QueueRetiring: name and bindings are unpublished, and the queue may end.
type QueueForgotten struct{}

// QueueKept answers QueueRetiring: the queue was declared before the vhost's answer, or its deletion could not be
// stored; it continues (PRO-3).
type QueueKept struct{}

// QueueEnding answers QueueRetiring with Ending: the state is stored, and name and bindings are unpublished.
type QueueEnding struct{}
