package message

import (
	"math"

	"candlemark/protocol"
)

// Overlay holds the broker's additions to a publisher's content. It is immutable: methods return new ones.
type Overlay struct {
	// Deaths is the x-death history, most recent first (DL-20).
	Deaths []Death
	// First is the death in x-first-death-* (DL-22).
	First Origin
	// Last is the death in x-last-death-* (DL-22).
	Last Origin
	// DropExpiration hides the publisher's expiration property (DL-17).
	DropExpiration bool
	// AddDeathCount adds x-death-count, the count of the last death.
	AddDeathCount bool
	// CC and BCC are the routing keys besides the message's own (DL-15). The keys of BCC are nowhere else: the header is
	// removed at publish (DL-16).
	CC, BCC []string
	// DeliveryCount is the number of failed deliveries by the queue that delivers the message, x-delivery-count; 0 is
	// not shown. A dead-lettered copy starts again at 0.
	DeliveryCount uint32
	// AcquiredCount is the number of all deliveries that came back to that queue, x-acquired-count; 0 is not shown. It belongs to
	// one delivery and is never stored.
	AcquiredCount uint32
	// DiedAfter is the number of times the message had come back to the queue where it died last: the delivery count
	// that clients of Azure Service Bus see in a dead-letter queue.
	DiedAfter uint32
	// Failed is the number of failed deliveries in the quorum queues where the message died: AMQP 1.0 adds them to the delivery count (DL-9).
	Failed uint32
	// Delayed is how long a delayed exchange held the message, in ms, shown as −x-delay (DLY-4). 0 if none has.
	Delayed int64
	// Held: a queue or an exchange has held it until its time, so that it is not held again (DLY-9).
	Held bool
	// Hops is the number of times queues have forwarded the message (forward-to) since a consumer rejected it.
	Hops uint8
	// Copied: the broker has sent it to several queues at once, or it is one of many messages of a publish, and since
	// then no consumer has rejected it. Copies is the number of further copies that it and its descendants may have
	// (DL-32).
	Copied bool
	Copies uint32
	// Answerable: its publisher may publish to the queue named in reply-to, so that the broker may send an answer there (ANS-2).
	Answerable bool
	// EnqueuedAt and ExpiresAt are shown to consumers of a queue that stamps its deliveries, in wall ms, as
	// x-enqueued-at and x-expires-at, which is absent for 0. They belong to one delivery and are never stored.
	EnqueuedAt, ExpiresAt int64
	// Annotations and Properties were set by consumers when they requeued or rejected the message: in AMQP 1.0 message
	// annotations and application properties, in 0-9-1 headers. Their values may be Typed. See Amended.
	Annotations, Properties protocol.Table
	amends                  int // encoded size of Annotations and Properties, bytes
}

// Origin names where and why a message died.
type Origin struct {
	Queue, Reason, Exchange string
}

// Death is one entry of x-death: all deaths in one queue for one reason.
type Death struct {
	Queue, Reason string
	// Exchange and RoutingKeys are the ones before the first such death (DL-21).
	Exchange    string
	RoutingKeys []string
	Count       int64
	Time        int64 // first death, in s since 1970
	// OriginalExpiration is the expiration property it died with, "" if none.
	OriginalExpiration string
}

// Died returns the overlay after another death at d.Time. d.Count is not read: a repeated death for the same queue and
// reason moves to the front with its count raised and nothing else changed (DL-21). o may be nil.
func (o *Overlay) Died(d Death) *Overlay {
	next := Overlay{DropExpiration: true}
	var before []Death
	if o != nil {
		next = *o.lasting()
		next.First, next.DropExpiration = o.First, true
		if d.Reason != "rejected" { // not checked yet
			next.Hops, next.Copied, next.Copies = o.Hops, o.Copied, o.Copies
		}
		next.DiedAfter = o.DeliveryCount
		before = o.Deaths
	}
	d.Count = 1
	next.Deaths = make([]Death, 1, len(before)+1)
	from := d.Exchange
	for _, old := range before {
		if old.Queue == d.Queue && old.Reason == d.Reason {
			d = old
			d.Count++
			continue
		}
		next.Deaths = append(next.Deaths, old)
	}
	next.Deaths[0] = d
	next.Last = Origin{Queue: d.Queue, Reason: d.Reason, Exchange: from}
	if len(before) == 0 {
		next.First = next.Last
	}
	return &next
}

// lasting returns the overlay without the fields that end when its message dies.
func (o *Overlay) lasting() *Overlay {
	return &Overlay{
		CC: o.CC, BCC: o.BCC, Delayed: o.Delayed, Held: o.Held, Annotations: o.Annotations, Properties: o.Properties, amends: o.amends,
		Failed: o.Failed, Answerable: o.Answerable,
	}
}

// answerable is shared by messages without other additions.
var answerable = &Overlay{Answerable: true}

// MayBeAnswered returns the overlay of a message that is Answerable. o may be nil.
func (o *Overlay) MayBeAnswered() *Overlay {
	if o == nil {
		return answerable
	}
	next := *o
	next.Answerable = true
	return &next
}

// After returns the history of a message from History, combined with the lasting fields of o, its overlay, which may be
// nil.
func (o *Overlay) After(history *Overlay) *Overlay {
	if o == nil {
		return history
	}
	next := o.lasting()
	next.Deaths, next.First, next.Last = history.Deaths, history.First, history.Last
	next.Hops, next.Copied, next.Copies = o.Hops, o.Copied, o.Copies
	return next
}

// Counted returns the overlay of a delivery of a message with these earlier ones (DL-9). o may be nil.
func (o *Overlay) Counted(n Returns) *Overlay {
	var next Overlay
	if o != nil {
		next = *o
	}
	next.DeliveryCount, next.AcquiredCount = n.Failed(), n.All()
	return &next
}

// failedOnce is shared by messages without other additions, so that the dead-letter actor makes one history for all of
// them.
var failedOnce = &Overlay{Failed: 1}

// Failing returns the overlay of a message that leaves a queue where n deliveries of it failed. o may be nil.
func (o *Overlay) Failing(n uint32) *Overlay {
	switch {
	case n == 0:
		return o
	case o == nil && n == 1:
		return failedOnce
	}
	var next Overlay
	if o != nil {
		next = *o
	}
	next.Failed += min(n, math.MaxUint32-next.Failed)
	return &next
}

// Stamped returns the overlay of a delivery with the times at which the message was enqueued and expires, in wall ms, 0
// for never. o may be nil.
func (o *Overlay) Stamped(enqueued, expires int64) *Overlay {
	var next Overlay
	if o != nil {
		next = *o
	}
	next.EnqueuedAt, next.ExpiresAt = enqueued, expires
	return &next
}

// Moved returns the overlay after a queue forwarded the message. o may be nil.
func (o *Overlay) Moved() *Overlay {
	var next Overlay
	if o != nil {
		next = *o
	}
	next.Hops++
	return &next
}

// Released returns the overlay after the message was held until its time: for ms, 0 if it was held until a date. o may
// be nil.
func (o *Overlay) Released(ms int64) *Overlay {
	var next Overlay
	if o != nil {
		next = *o
	}
	next.Delayed, next.Held = ms, true
	return &next
}

// Dead reports whether the message has died. o may be nil.
func (o *Overlay) Dead() bool { return o != nil && len(o.Deaths) > 0 }

// Undated reports whether the publisher's expiration no longer counts because the message has died (DL-17). o may be
// nil.
func (o *Overlay) Undated() bool { return o != nil && o.DropExpiration }

// Keys returns the message's routing keys, its own first, then CC and, if blind, BCC. o may be nil.
func (o *Overlay) Keys(own string, blind bool) []string {
	if o == nil {
		return []string{own}
	}
	keys := append([]string{own}, o.CC...)
	if blind {
		keys = append(keys, o.BCC...)
	}
	return keys
}

// Cycle reports whether delivering to queue closes a dead-letter cycle: the
// most recent death there has no rejection at or after it (DL-25).
func (o *Overlay) Cycle(queue string) bool {
	if !o.Dead() || o.Deaths[0].Reason == "rejected" {
		return false
	}
	for _, d := range o.Deaths {
		if d.Reason == "rejected" {
			return false
		}
		if d.Queue == queue {
			return true
		}
	}
	return false
}
