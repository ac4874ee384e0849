package queue

import (
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// A part is one feature of a queue that other features need not know. It owns its fields, shares the host, and never calls
// another part.
type part interface {
	// Next returns when Advance is due, in ms of the broker's time; false for never.
	Next() (at int64, ok bool)
	// Advance does what depends only on the time, up to a turn's limit of messages, and reports whether more is left.
	Advance(now clock.Instant) (more bool)
	// Settings is called when the settings have changed, with the previous ones, and with nil when the queue starts.
	Settings(before *policies.QueueSettings, now clock.Instant)
	// Gone is called when a channel, session or move has ended.
	Gone(channel mail.Address, now clock.Instant)
	// Figures adds what the part holds to the queue's figures.
	Figures(f *figures)
	// Busy reports whether the queue must not become dormant.
	Busy() bool
	// End is called when the queue ends. It returns the commands that wait, which are then answered.
	End() (waiting []mail.Answerable)
}

// base is embedded in each part. Its methods are for what does not concern the part.
type base struct{ *host }

func (base) Next() (int64, bool)                             { return 0, false }
func (base) Advance(clock.Instant) bool                      { return false }
func (base) Settings(*policies.QueueSettings, clock.Instant) {}
func (base) Gone(mail.Address, clock.Instant)                {}
func (base) Figures(*figures)                                {}
func (base) Busy() bool                                      { return false }
func (base) End() []mail.Answerable                          { return nil }

// parts lists the parts of a queue in the order in which they advance, and so on:
//   - a pause in reading ends first, as others go on to read, and then a pause of deliveries;
//   - deliveries that were held too long return, and then the deliveries of sessions whose locks have ended;
//   - scheduled messages are released before ready ones expire, as their time to live may end with their release;
//   - then ready and deferred messages expire;
//   - the other parts have nothing to do in Advance, or depend on nothing else.
//
// An entry returns nil if the queue has no such part at present, which is as good as a part with nothing to do.
var parts = []func(s *state) part{
	func(s *state) part { return present(s.messages.Pager.Waits(), reading{base{&s.host}}) },
	func(s *state) part { return present(s.pausing.is(), &s.pausing) },
	func(s *state) part { return present(s.deliveries.Timeouts != nil, locks{base{&s.host}}) },
	func(s *state) part { return present(s.messages.Sessions != nil, &s.sessioned) },
	func(s *state) part {
		return present(s.messages.Scheduled != nil || s.messages.Holds, scheduled{base{&s.host}})
	},
	func(s *state) part { return expiring{base{&s.host}} },
	func(s *state) part { return present(s.messages.Deferred != nil, deferring{base{&s.host}}) },
	func(s *state) part { return present(s.duplicates.window != nil, &s.duplicates) },
	func(s *state) part { return present(s.messages.Marks.Len() > 0, marks{base{&s.host}}) },
	func(s *state) part { return unused{base{&s.host}} },
	func(s *state) part { return forwarding{base{&s.host}} },
	func(s *state) part { return present(len(s.gets.waiting) > 0, &s.gets) },
	func(s *state) part { return present(s.messages.DeadLetters != nil, letters{base{&s.host}}) },
	func(s *state) part { return present(s.preview != nil && s.preview.current != nil, s.preview) },
	func(s *state) part { return present(s.flow != nil, s.flow) },
}

func present(has bool, p part) part {
	if has {
		return p
	}
	return nil
}

// pauses lists what ends in real time (CLK-4), in ms: for how long the queue reads nothing, and withholds credit.
var pauses = []func(s *state) (at int64, ok bool){
	func(s *state) (int64, bool) { return s.messages.Pager.Next() },
	func(s *state) (int64, bool) { return s.flow.Due() },
}

// gates lists the gates for messages that arrive (publish.go), in this order:
//   - runs of schedules and duplicates first: they count as taken, even if they could not be taken now;
//   - a copy is changed by its rule before anything else looks at it;
//   - then a message that is not valid for the queue is refused, and one that cannot be stored;
//   - a copy that failed is not kept, so it is neither scheduled nor limited;
//   - scheduled messages do not count towards the limits, which come last;
//   - a message within the limits may be forwarded instead of kept.
//
// An entry returns nil if it is not concerned with a batch, and then costs its messages nothing.
var gates = []func(s *state, e *mail.Enqueue) gate{
	func(s *state, e *mail.Enqueue) gate { return concerned(e.Runs != nil, marks{base{&s.host}}) },
	func(s *state, e *mail.Enqueue) gate {
		return concerned(s.messages.Settings.DuplicateWindow > 0 && !e.Moved, &s.duplicates)
	},
	func(_ *state, e *mail.Enqueue) gate { return concerned(e.Action != nil, copies{}) },
	func(s *state, _ *mail.Enqueue) gate { return concerned(s.messages.Sessions != nil, &s.sessioned) },
	func(s *state, _ *mail.Enqueue) gate { return concerned(s.messages.Journal.Err() != nil, health{}) },
	func(_ *state, e *mail.Enqueue) gate { return concerned(e.Action != nil, failedCopies{}) },
	func(s *state, _ *mail.Enqueue) gate {
		times := s.messages.TimesReader()
		return concerned(times.Looks(), scheduled{base{&s.host}})
	},
	func(s *state, e *mail.Enqueue) gate { return concerned(s.messages.Rejects() && !e.Prepared, lengths{}) },
	func(s *state, _ *mail.Enqueue) gate {
		return concerned(forwards(&s.host) && s.phase == live, forwarding{base{&s.host}})
	},
}

func concerned(is bool, g gate) gate {
	if is {
		return g
	}
	return nil
}

// keeper has notes in the journal besides the messages.
type keeper interface {
	// Restore takes a note from the journal, and reports whether it was the keeper's.
	Restore(note *store.Recovered) (taken bool)
}

var keepers = []func(s *state) keeper{
	func(s *state) keeper { return marks{base{&s.host}} },
	func(s *state) keeper { return &s.pausing },
	func(s *state) keeper { return &s.duplicates },
	func(s *state) keeper { return &s.sessioned },
}

// handler takes mail of its own, after the mail that every queue has (control).
type handler interface {
	// Handle reports whether it took the mail.
	Handle(received any, now clock.Instant) (taken bool)
}

// handlers lists those who take mail, the most frequent first. Each kind of mail has one handler.
var handlers = []func(s *state) handler{
	func(s *state) handler { return &s.gets },
	func(s *state) handler { return scheduled{base{&s.host}} },
	func(s *state) handler { return locks{base{&s.host}} },
	func(s *state) handler { return &s.sessioned },
	func(s *state) handler { return deferring{base{&s.host}} },
	func(s *state) handler { return purges{s} },
	func(s *state) handler { return previewing{s} },
	func(s *state) handler { return &s.pausing },
	func(s *state) handler { return queries{s} },
}

// early is a part that acts before a mail that depends on what is due, as the timer may be late.
type early interface {
	// Early reports whether it has made messages ready, and whether more is left to do.
	Early(received any, now clock.Instant) (did, more bool)
}

func (s *state) early() early {
	if s.messages.Scheduled != nil {
		return scheduled{base{&s.host}}
	}
	return nil
}

// diverter is a part that takes ready messages before consumers do.
type diverter interface {
	// Divert reports whether it could take more.
	Divert(now clock.Instant) (more bool)
}

func (s *state) diverter() diverter {
	if forwards(&s.host) {
		return forwarding{base{&s.host}}
	}
	return nil
}

// Parts may have these methods, too.
type (
	// noter has records in the journal that are no messages.
	noter interface{ Noted() bool }
	// restarter notes that time has passed while the broker was down.
	restarter interface{ Restarted(now clock.Instant) }
	// waiter has something that waits for contents to be read.
	waiter interface {
		// Resume is called when contents were read, and when deadlines are due.
		Resume(now clock.Instant)
	}
	// viewed has messages that queries read.
	viewed interface{ Show(v *inspect.View) }
	// sleeper has deadlines that do not count time for which the machine sleeps.
	sleeper interface {
		// Slept is called when the machine has slept for ms.
		Slept(ms int64, now clock.Instant)
	}
)

// build connects the parts of a new core.
func (s *state) build() {
	b := base{&s.host}
	s.farewell.host, s.duplicates.base = &s.host, b
	s.sessioned = newSessioned(b, s.queue)
	s.gets, s.pausing = gets{base: b}, pausing{b, deliveries.Hold{Messages: &b.messages, Consumers: &b.consumers, Out: &b.out.Posts}}
	if s.source = (fifo{&s.host}); s.messages.Sessions != nil {
		s.source = &s.sessioned
	}
}

// restore adds the messages and notes of the journal.
func (s *state) restore(recovered []store.Recovered) {
	found := recovered
	for i := range recovered {
		switch m := &recovered[i]; {
		case m.Note:
			s.messages.Seq = max(s.messages.Seq, m.Seq)
			if len(found) == len(recovered) { // the caller may need the list unchanged
				found = append(recovered[:0:0], recovered[:i]...)
			}
			for _, of := range keepers {
				if of(s).Restore(m) {
					break
				}
			}
		case len(found) < len(recovered):
			found = append(found, *m)
		}
	}
	s.messages.Marks.Settle(found)
	s.messages.Restore(found)
}

// each calls f for all parts that the queue has at present.
func (s *state) each(f func(part)) {
	for _, of := range parts {
		if p := of(s); p != nil {
			f(p)
		}
	}
}

// shown returns what queries read.
func (s *state) shown() inspect.View {
	v := inspect.View{
		Messages: &s.messages.Backlog, Consumers: &s.consumers, AckTimeouts: s.deliveries.Timeouts, Expiry: &s.messages.Expiry,
		Style: s.messages.Style(), Limit: int(s.turnLimit), Now: &s.messages.Journal.At,
	}
	s.each(func(p part) {
		if x, ok := p.(viewed); ok {
			x.Show(&v)
		}
	})
	return v
}

// end ends all parts, and returns the commands that wait in them.
func (s *state) end() (waiting []mail.Answerable) {
	s.each(func(p part) { waiting = append(waiting, p.End()...) })
	return waiting
}
