package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"

	"candlemark/actors/queue/sessions"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// This part assigns the sessions of a queue to consumers: it locks them, requeues the deliveries of a session
// when its lock ends, and handles commands about sessions.
//
// Owns: operations in progress only. Sessions are in package sessions, deliveries in the channels (consumers).
//
// Takes, from the queue: Consume, CancelConsumer, UseSession, ListSessions. Sends, through its Outbox: ConsumeReply,
// UseSessionReply, SessionList, DeliveriesRequeued, ConsumerCancelled.
//
// Deadlines: the sessions' own.
//
// A restart loses: locks. States are in the journal, as notes.

// defaultSessionLock is the length of a session lock in a queue without consumer timeout, in ms.
const defaultSessionLock = 1_800_000

// ReceiverOwner is the queue. Attach attaches a consumer, Detach detaches it. HoldLease is called with true for each consumer
// that waits for a session, and with false when it stops waiting.
type ReceiverOwner interface {
	Owner
	Attach(c *consumers.Consumer, exclusive bool)
	Detach(c *consumers.Consumer, now clock.Instant)
	HoldLease(hold bool, now clock.Instant)
}

// Receivers are the consumers of a queue with sessions.
type Receivers struct {
	*Parts
	Takes   *Deliveries
	Owner   ReceiverOwner
	reading bool  // reading contents from the journal
	pause   int64 // when to read again after a failed read, wall ms, 0 for none
}

// NewReceivers returns the Receivers of a queue without any.
func NewReceivers(takes *Deliveries, owner ReceiverOwner) Receivers {
	return Receivers{Parts: &takes.Parts, Takes: takes, Owner: owner}
}

// Consume locks the session that m requests for a consumer, now or later. Then the consumer is attached.
func (r *Receivers) Consume(m *mail.Consume, c *consumers.Consumer, now clock.Instant) {
	c.Session, c.Connection, c.Link = true, m.Connection, m.Session.Link
	w := &sessions.Waiter{Consumer: c, ID: m.Session.ID, Any: m.Session.Next, Asked: m}
	r.Owner.HoldLease(true, now)
	if len(w.ID) > sessions.MaxID {
		r.refuse(w, mail.ErrSessionID, now)
		return
	}
	wait := min(max(m.Session.Wait, 0), sessions.MaxWait)
	answer, id := r.Messages.Sessions.Ask(w, now.Floor(), now.Ceil()+wait)
	r.answer(w, answer, id, now)
}

func (r *Receivers) answer(w *sessions.Waiter, answer sessions.Answer, id string, now clock.Instant) {
	switch answer {
	case sessions.Waits:
		return
	case sessions.Taken:
		r.refuse(w, mail.ErrSessionTaken, now)
		return
	case sessions.Full:
		r.refuse(w, mail.ErrSessionsFull, now)
		return
	case sessions.Granted:
	}
	m := w.Asked.(*mail.Consume)
	until := store.After(now.Ceil(), r.period())
	r.Owner.Attach(w.Consumer, false)
	r.Messages.Sessions.Lock(id, w.Consumer, until)
	r.Owner.HoldLease(false, now)
	r.Out.Send(m.ReplyTo, &mail.ConsumeReply{
		Reply: m.Done(nil), Queue: r.Self, Tag: m.Tag, Session: &mail.SessionLocked{ID: id, Until: r.Messages.Dates.Date(until)},
	})
}

// refuse answers a waiter with an error.
func (r *Receivers) refuse(w *sessions.Waiter, err error, now clock.Instant) {
	m := w.Asked.(*mail.Consume)
	r.Owner.HoldLease(false, now)
	r.Out.Send(m.ReplyTo, &mail.ConsumeReply{Reply: m.Done(err), Queue: r.Self, Tag: m.Tag})
}

// period returns the length of a session lock, in ms.
func (r *Receivers) period() int64 {
	if ms := r.Messages.Settings.ConsumerTimeout; ms > 0 {
		return ms
	}
	return defaultSessionLock
}

// Cancel ends the wait of a channel's consumer, or of all its consumers if tag is "", and answers them.
func (r *Receivers) Cancel(channel mail.Address, tag string, now clock.Instant) {
	r.Messages.Sessions.Waiting(func(w *sessions.Waiter) {
		if m := w.Asked.(*mail.Consume); mail.Same(m.Channel, channel) && (tag == "" || tag == m.Tag) {
			r.Messages.Sessions.GiveUp(w)
			r.refuse(w, mail.ErrNoSession, now)
		}
	})
}

// Abandon removes and returns the commands of all waiting consumers.
func (r *Receivers) Abandon() (all []mail.Answerable) {
	r.Messages.Sessions.Waiting(func(w *sessions.Waiter) {
		r.Messages.Sessions.GiveUp(w)
		all = append(all, w.Asked.(*mail.Consume))
	})
	return all
}

// Turn is called after each mail: it frees the sessions of detached consumers without unacked deliveries, and assigns
// free sessions to waiting consumers.
func (r *Receivers) Turn(now clock.Instant) {
	set := r.Messages.Sessions
	if set == nil || r.Pending.Work() != nil { // the previous holder is informed before a session is assigned again
		return
	}
	if set.Opaque() && !r.reading && r.pause <= now.Floor() {
		r.pause = 0
		r.read()
	}
	r.Consumers.Left(set.Free)
	for {
		w, answer, id := set.Answered()
		if w == nil {
			return
		}
		r.answer(w, answer, id, now)
	}
}

// Expire ends expired locks and waits, and requeues the deliveries of those locks. It reports whether this continues in
// the next turn.
func (r *Receivers) Expire(now clock.Instant) (more bool) {
	lost, late := r.Messages.Sessions.Advance(now.Floor())
	for _, w := range late {
		r.refuse(w, mail.ErrNoSession, now)
	}
	holding := map[*consumers.Consumer]bool{} // true: still attached
	var order []*consumers.Consumer
	for _, c := range lost {
		there := !c.Gone()
		if there {
			r.Owner.Detach(c, now)
		}
		if c.Holds() > 0 {
			holding[c], order = there, append(order, c)
		} else if there { // another consumer may get the session in this turn
			r.cancelled(c)
		}
	}
	if len(holding) == 0 {
		return false
	}
	r.takeAll(holding, order, now)
	return r.Pending.Work() != nil
}

// takeAll requeues the deliveries of consumers whose locks have expired, and informs the consumers still attached.
func (r *Receivers) takeAll(lost map[*consumers.Consumer]bool, order []*consumers.Consumer, now clock.Instant) {
	returned := map[*consumers.Holder]*mail.DeliveriesRequeued{}
	all := r.Consumers.Scan(int(*r.Limit))
	r.Pending.Start(&LongCommand{
		Expires: true,
		Step: func(now clock.Instant) (done bool) {
			var back []consumers.Unsettled
			done = all.Step(func(u consumers.Unsettled) {
				if _, is := lost[u.Consumer]; is && !r.Takes.IsPrepared(u.Message) {
					back = append(back, u)
				}
			})
			for _, u := range back {
				r.takeBack(u, returned, now)
			}
			return done
		},
		End: func(clock.Instant) {
			for h, m := range returned {
				r.Out.Send(h.Address, m)
			}
			for _, c := range order {
				if lost[c] {
					r.cancelled(c)
				}
			}
		},
	}, now)
}

// cancelled informs a consumer that has lost its session, after its deliveries were requeued. A consumer that has
// left is not informed, as another may use its tag.
func (r *Receivers) cancelled(c *consumers.Consumer) {
	r.Out.Send(c.Channel.Address, &mail.ConsumerCancelled{Queue: r.Self, Tag: c.Tag, Lost: true})
}

func (r *Receivers) takeBack(u consumers.Unsettled, returned map[*consumers.Holder]*mail.DeliveriesRequeued, now clock.Instant) {
	m := returned[u.Channel]
	if m == nil {
		m = &mail.DeliveriesRequeued{Queue: r.Self, Name: r.Name}
		returned[u.Channel] = m
	}
	r.Messages.Counts.TimedOut++
	r.Takes.RequeueOne(u.Channel, u.Number, m, now)
}

// Limits of one read for a session.
const (
	sessionRun      = 64
	sessionRunBytes = 1 << 20
)

// Read requests the paged-out contents of c's next messages.
func (r *Receivers) Read(c *consumers.Consumer, now clock.Instant) {
	set := r.Messages
	if !set.Pager.Paused(now) {
		bytes := int64(0)
		set.Sessions.Behind(c, sessionRun, func(h backlog.Handle) {
			if set.Backlog.IsPaged(h) && bytes < sessionRunBytes {
				bytes += set.Pager.Order(&set.Backlog, h)
			}
		})
	}
	set.Sessions.Reading(c)
}
