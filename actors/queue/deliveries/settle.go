package deliveries

import (
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Settle handles settlements of a channel. Freed prefetch is used in the same turn.
func (d *Deliveries) Settle(m *mail.Settle, now clock.Instant) {
	h := d.Consumers.Channel(m.Channel)
	if h == nil {
		d.Out.Send(m.Answer(mail.Gone))
		return
	}
	ranges, refused := d.deadLettered(m.Ranges)
	if refused != nil && m.Asked != nil {
		d.Out.Send(m.Asked.ReplyTo, &mail.SettleReply{Reply: m.Asked.Done(refused)})
		return
	}
	var t *tally
	if m.Asked != nil {
		t = &tally{asked: m, open: 1, end: func(lost []mail.Range) {
			d.whenDurable(m.Durable, func(err error) {
				d.Out.Send(m.Asked.ReplyTo, &mail.SettleReply{Reply: m.Asked.Done(err), Lost: lost})
			})
		}}
	}
	if rest := d.settleSome(h, ranges, t, now); len(rest) > 0 {
		d.settleLater(h, m, rest, t)
	} else {
		t.done()
	}
}

// whenDurable calls f at once or, if wait is set, when all records of the queue are durable. The error says that the
// journal has failed.
func (d *Deliveries) whenDurable(wait bool, f func(error)) {
	if !wait {
		f(nil)
		return
	}
	d.Messages.Journal.AwaitAll(func(failed bool) {
		if failed {
			f(mail.NotRecorded())
			return
		}
		f(nil)
	})
}

// settleLater continues settlements that exceed one turn.
func (d *Deliveries) settleLater(h *consumers.Holder, m mail.Answerable, rest []mail.SettleRange, t *tally) {
	d.Pending.Later(&LongCommand{
		Expires: true, Asked: m,
		Step: func(now clock.Instant) bool {
			rest = d.settleSome(h, rest, t, now)
			return len(rest) == 0
		},
		End: func(clock.Instant) { t.done() },
	})
}

// tally collects the answer to a sender; nil if no answer is expected.
type tally struct {
	asked mail.Answerable
	end   func(lost []mail.Range) // sends the answer
	lost  []mail.Range
	open  int // unfinished parts of the settlement
}

// miss records that the numbers from first to next-1 are no longer held.
func (t *tally) miss(first, next uint64) {
	if t != nil && first < next {
		t.lost = append(t.lost, mail.Range{First: first, Last: next - 1})
	}
}

// done finishes a part; after the last one it answers.
func (t *tally) done() {
	if t == nil {
		return
	}
	if t.open--; t.open == 0 {
		t.end(t.lost)
	}
}

// settleSome settles deliveries up to a turn's limit and returns the remaining ranges.
func (d *Deliveries) settleSome(h *consumers.Holder, ranges []mail.SettleRange, t *tally, now clock.Instant) []mail.SettleRange {
	left := int(*d.Limit)
	for i := range ranges {
		if left <= 0 {
			return ranges[i:]
		}
		r := &ranges[i]
		amends := d.amends(r)
		if amends {
			left = min(left, amendLimit)
		}
		var unread []numbered
		before, first := h.Unacked.Len(), r.First
		next := h.Unacked.TakeSome(r.First, r.Last, left, func(n uint64, u consumers.ChannelDelivery) {
			t.miss(first, n)
			first = n + 1
			if amends && d.Messages.Backlog.IsPaged(u.Message) {
				unread = append(unread, numbered{n, u})
				return
			}
			if r.How == mail.Leave && d.keepLockWithoutOwner(&consumers.Unsettled{ChannelDelivery: u, Channel: h, Number: n}, now) {
				return
			}
			d.processed(h, u)
			if amends {
				d.amend(u.Message, r.Outcome.Annotations, r.Outcome.Properties)
			}
			d.settleOne(u, r, now)
		})
		taken, last := before-h.Unacked.Len(), r.Last
		if next != 0 {
			last = next - 1
		}
		t.miss(first, last+1)
		if r.How != mail.Leave {
			d.Messages.Counts.Late += last - r.First + 1 - uint64(taken) // deliveries no longer held
		}
		d.settleRead(h, unread, *r, t)
		left -= 1 + taken
		if next != 0 {
			r.First = next
			return ranges[i:]
		}
	}
	return nil
}

// settleOne settles one delivery.
func (d *Deliveries) settleOne(u consumers.ChannelDelivery, r *mail.SettleRange, now clock.Instant) {
	set := d.Messages
	if r.How != mail.Leave {
		set.Counts.Settled++
	}
	switch r.How {
	case mail.Ack:
		set.Counts.Ack++
		set.Remove(u.Message, store.Acked)
	case mail.Requeue, mail.Leave:
		d.requeue(u.Message, d.retryAt(r), now)
	case mail.Reject, mail.ToDeadLetters:
		if e := set.Backlog.Entry(u.Message); e.Marks&backlog.Deferred == 0 { // to receive by number counts when it is returned (DEFER-2)
			e.Marks |= backlog.Failed
		}
		set.End(u.Message, store.Rejected)
	case mail.Discard:
		set.End(u.Message, store.Rejected)
	case mail.PutBack:
		set.Unclaim(u.Message, now)
	case mail.Release:
		d.requeueUncounted(u.Message, d.retryAt(r), now)
	case mail.Defer:
		d.putAside(u.Message, now)
	}
}

// retryAt returns when deliveries of a settlement may be delivered again, in wall ms of the broker, 0 if they need not
// wait.
func (d *Deliveries) retryAt(r *mail.SettleRange) int64 {
	if r.Outcome == nil || r.Outcome.Until == 0 {
		return 0
	}
	return d.Messages.Dates.Deadline(r.Outcome.Until)
}

// RequeueAllOfConsumer requeues, at their positions, the deliveries of a cancelled consumer, over several turns if necessary, and
// then calls end (LOCK-9).
func (d *Deliveries) RequeueAllOfConsumer(c *consumers.Consumer, m *mail.CancelConsumer, now clock.Instant, end func()) {
	unacked, next := &c.Channel.Unacked, uint64(1)
	d.Pending.Start(&LongCommand{
		Expires: true, Asked: m,
		Step: func(now clock.Instant) bool {
			if c.Holds() == 0 {
				return true
			}
			var numbers []uint64
			next = unacked.Some(next, int(*d.Limit), func(n uint64, u consumers.ChannelDelivery) {
				if _, stays := slices.BinarySearch(m.Except, n); u.Consumer == c && !stays {
					numbers = append(numbers, n)
				}
			})
			for _, n := range numbers {
				u, _ := unacked.Take(n)
				d.processed(c.Channel, u)
				d.requeue(u.Message, 0, now)
			}
			return next == 0
		},
		End: func(clock.Instant) { end() },
	}, now)
}

// GiveUpNumbered requeues the deliveries received by number for the session of a cancelled consumer, from any channel,
// except deliveries that a transaction settles; it may take several turns, and then calls end (SESSION-4).
func (d *Deliveries) GiveUpNumbered(c *consumers.Consumer, asked mail.Answerable, now clock.Instant, end func()) {
	all := d.Consumers.Scan(int(*d.Limit))
	d.Pending.Start(&LongCommand{
		Expires: true, Asked: asked,
		Step: func(now clock.Instant) (done bool) {
			if c.Holds() == 0 {
				return true
			}
			var back []consumers.Unsettled
			done = all.Step(func(u consumers.Unsettled) {
				if u.Consumer == c && d.deferred(u.Message) && !d.IsPrepared(u.Message) {
					back = append(back, u)
				}
			})
			for _, u := range back {
				d.RequeueOne(u.Channel, u.Number, &mail.DeliveriesRequeued{}, now) // channels do not know deliveries by number
			}
			return done
		},
		End: func(clock.Instant) { end() },
	}, now)
}

// RequeueAllOfHolder requeues, at their positions, all deliveries of a channel that has ended, except locked deliveries of deferred
// messages (LOCK-10), over several turns if necessary, and then calls end.
func (d *Deliveries) RequeueAllOfHolder(h *consumers.Holder, now clock.Instant, end func()) {
	next := uint64(1)
	d.Pending.Start(&LongCommand{
		Expires: true,
		Step: func(now clock.Instant) bool {
			next = h.Unacked.TakeSome(next, h.Unacked.Last(), int(*d.Limit), func(n uint64, u consumers.ChannelDelivery) {
				if u.Consumer == nil && d.keepLockWithoutOwner(&consumers.Unsettled{ChannelDelivery: u, Channel: h, Number: n}, now) {
					return
				}
				d.processed(h, u)
				d.requeue(u.Message, 0, now)
			})
			return next == 0
		},
		End: func(clock.Instant) { end() },
	}, now)
}
