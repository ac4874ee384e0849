package vhost

import (
	"maps"
	"slices"
	"strings"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/policies"
)

// A queue with the argument dead-letter-queue sends its dead letters to a queue created by the broker: a plain queue,
// as durable as the queue itself, that outlives it. If a user deletes it while it is needed, it is created again.

// settingsOf returns the settings of a client's queue under its policies.
func (qs *queues) settingsOf(q *queue, effective policies.Effective) policies.QueueSettings {
	s := policies.SettingsFor(q.queue.Arguments, effective)
	if q.queue.Exclusive || strings.HasPrefix(q.queue.Name, refusal.Reserved) { // such queues need no dead-letter queue
		s.DeadLetterQueue = false
	}
	s = s.Routed(q.queue.Name)
	q.wantsDLQ = s.DeadLetterQueue
	q.lock = qs.lockOf(q)
	s.DeadLetterLock = q.lock
	q.schedule(&s)
	return s
}

// lockOf returns for how long dead letters in q are locked: the timeout of the queue from which they come, 0 if there
// is none (LOCK-11).
func (qs *queues) lockOf(q *queue) int64 {
	name := policies.DeadLettersFrom(q.queue.Arguments)
	from := qs.byName[name]
	if from == nil || policies.DeadLetterQueueOf(name) != q.queue.Name {
		return 0
	}
	effective := qs.matcher.set.Effective(from.kind, name, from.policiesExcluded()...)
	return max(policies.SettingsFor(from.queue.Arguments, effective).ConsumerTimeout, 0)
}

// copyLockTime informs the dead-letter queue of q of a change of its lock time.
func (qs *queues) copyLockTime(q *queue) {
	dlq := qs.byName[policies.DeadLetterQueueOf(q.queue.Name)]
	if dlq != nil && qs.matcher.configurable(dlq) && qs.lockOf(dlq) != dlq.lock {
		qs.matcher.configure(dlq)
	}
}

// schedule publishes the time headers that a queue honours.
func (q *queue) schedule(s *policies.QueueSettings) {
	if q.queue.Schedules == nil { // it is not published yet
		q.queue.Schedules = &timeheaders.Schedules{}
	}
	q.queue.Schedules.Set(timeheaders.Config{Schedules: s.DelayedMessages, DeliverAt: s.DeliverAtHeader, ExpiresAt: s.ExpiresAtHeader, Answers: s.AnswerRequests})
}

// policiesExcluded returns the names by which user policies do not match q.
func (q *queue) policiesExcluded() []string {
	o := policies.Object{Kind: q.kind, Name: q.queue.Name, Arguments: q.queue.Arguments}
	return o.NotBy()
}

// ensureDLQ creates the dead-letter queue of q, unless it exists or is not needed, and calls done when it is usable. A
// queue created by a client is accepted.
func (qs *queues) ensureDLQ(q *queue, done func()) {
	name := policies.DeadLetterQueueOf(q.queue.Name)
	if !q.wantsDLQ || qs.ending != nil || qs.isThere(name) {
		done()
		return
	}
	r := qs.requests.ask(nil, func(_ bool, err error) {
		if err != nil && !qs.isThere(name) {
			qs.cfg.Log.Error().Err(err).Str("queue", q.queue.Name).Msg("a dead-letter queue cannot be created; dead letters of the queue are lost")
		}
		done()
	})
	qs.declare(&mail.DeclareQueue{
		Request: r, Name: name, VHost: qs.vhost, Durable: q.queue.Durable, NoWait: true, For: q.queue.User,
		Arguments: policies.DeadLetterQueueArguments(q.queue.Name),
	})
}

func (qs *queues) isThere(queue string) bool {
	q := qs.byName[queue]
	return q != nil && (q.phase == live || q.phase == down)
}

// ensureAllDLQs creates missing dead-letter queues, as after a crash or if they are transient, and calls done when
// they are usable.
func (qs *queues) ensureAllDLQs(done func()) {
	g := newBarrier(done)
	for _, q := range slices.Collect(maps.Values(qs.byName)) {
		if q.wantsDLQ && qs.byName[policies.DeadLetterQueueOf(q.queue.Name)] == nil {
			g.begin()
			qs.ensureDLQ(q, g.end)
		}
	}
	g.end()
}

// recreateDLQFor creates a deleted dead-letter queue again.
func (qs *queues) recreateDLQFor(deleted string) {
	of, isOne := strings.CutSuffix(deleted, policies.DeadLetterQueueSuffix)
	if q := qs.byName[of]; isOne && q != nil && (q.phase == live || q.phase == ending || q.phase == coming || q.phase == crashed) {
		qs.ensureDLQ(q, func() {})
	}
}
