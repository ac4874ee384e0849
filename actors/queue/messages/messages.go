package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/deferred"

	"candlemark/actors/queue/expiry"

	"candlemark/actors/queue/paging"
	"candlemark/actors/queue/records"
	"candlemark/actors/queue/schedule"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
)

// TurnLimit is the number of messages that expire in one turn before other mail is handled (TTL-33): as many as one
// mail to the dead-letter actor, which handles them while the next expire.
const TurnLimit = mail.DeadLetterBatch

// Messages holds the messages of a queue. See Init.
type Messages struct {
	// Settings may be changed; the queue applies the consequences.
	Settings    policies.QueueSettings
	Backlog     backlog.Backlog
	Expiry      expiry.Expiry
	Scheduled   *schedule.Schedule       // nil if there are none
	DeadLetters *deadletters.DeadLetters // nil before the first
	Deferred    *deferred.Deferred       // nil before the first
	Sessions    *sessions.Sessions       // nil for none
	Marks       *Marks                   // nil before the first
	Pager       paging.Pager
	Journal     records.Writer
	Counts      mail.Counts
	Notices     Notices
	Late        metrics.Late
	Ages        metrics.Ages
	// Seq is the highest number of any message so far.
	Seq uint64
	// Dates converts dates in this turn.
	Dates clock.Dates
	// OverLimit: the budget of all queues is exceeded; Critical: by far; Consumed: the queue has consumers.
	OverLimit, Critical, Consumed bool
	// Scarce: there is no room for more ids of the duplicate detection window. Full is why there is none for session
	// states, nil if there is (PRO-21).
	Scarce bool
	Full   error
	// Holds: the queue holds the messages of a delayed exchange; Quorum: a quorum queue.
	Holds, Quorum bool
	// Unfinished: work before the current mail exceeded the turn's limit.
	Unfinished bool
	queue      *topology.Queue
	vhost      *topology.VHost
	self       mail.Address
	out        *mail.Posts
	closing    bool // the queue is being deleted: its dead letters are sent for the last time
	ending     bool // the queue is ending: messages that end are dead-lettered under any settings, and wait for an exchange
}

// Init initialises the empty Messages of a queue, which must not be copied afterwards.
func (s *Messages) Init(q *topology.Queue, v *topology.VHost, self mail.Address, settings policies.QueueSettings, b *budget.Budget, out *mail.Posts) {
	s.queue, s.vhost, s.self, s.out, s.Settings = q, v, self, out, settings
	s.Quorum = policies.KindOf(q.Arguments) == policies.KindQuorumQueue
	s.Holds = q.Holds()
	newJournal(s, false)
	s.Expiry = expiry.New(&s.Backlog, &s.Settings, s.Quorum)
	s.Pager = paging.New()
	s.Backlog.Budget = b
}

// newJournal creates the writer of records.
func newJournal(s *Messages, spilled bool) {
	s.Journal = records.New(s.out, records.RuleOf(s.queue), spilled)
	hookRemoved(s)
}

// EnableSessions sets the sessions of the queue. It is called before the first message.
func EnableSessions(s *Messages, all *sessions.Sessions) {
	s.Sessions = all
	hookRemoved(s)
}

// Keep adds a copy of a message to the backlog as ready, and writes it to the journal if it is to be stored.
func (s *Messages) Keep(m *message.Message, deadline int64, now clock.Instant) backlog.Handle {
	s.Seq++
	var r backlog.Record
	content.Keep(&r, m, s.Seq, deadline, now.Ceil(), s.Settings.PriorityOf(m.Priority), s.Journal.Stores(m))
	h := s.Backlog.Push(&r)
	if s.Sessions != nil {
		s.JoinSession(m)
		s.Sessions.Enter(s.Seq, h)
	}
	if r.Stored {
		s.Journal.Put(&s.Backlog, h)
	}
	return h
}

// Wait leaves a ready message waiting for a consumer or its expiry; its content is paged out if memory is tight.
func (s *Messages) Wait(h backlog.Handle) {
	s.Expiry.Add(h)
	if s.OverLimit && s.Backlog.Entry(h).Marks&backlog.Written == 0 && s.Pager.Crowded(s.Memory()) {
		s.Journal.Spill(&s.Backlog, h, false)
	}
}

// EnsureScheduled creates the set of scheduled messages.
func (s *Messages) EnsureScheduled() *schedule.Schedule {
	if s.Scheduled == nil {
		s.Scheduled = schedule.New(s.Backlog.Budget)
	}
	return s.Scheduled
}

// JoinSession adds a message to its session.
func (s *Messages) JoinSession(m *message.Message) {
	id, _ := sessions.IDOf(m.Header)
	s.Sessions.Add(s.Seq, id)
}

// Style returns how the queue presents its messages to consumers.
func (s *Messages) Style() content.Style {
	return content.Style{Counts: s.Quorum || s.Settings.Retry.On(), Stamps: s.Settings.StampExpiry, Dates: clock.Ahead(s.Dates.Skew())}
}

// Restore adds the messages of the journal, paged out. Deadlines are unchanged, or follow from the settings if these
// are retroactive (TTL-25); time during which the broker was down counts (TTL-26).
func (s *Messages) Restore(recovered []store.Recovered) {
	if n := len(recovered); n > 0 {
		s.Seq = max(s.Seq, recovered[n-1].Seq)
	}
	for i := range recovered {
		if m := &recovered[i]; s.Sessions != nil {
			s.Sessions.Expect(m.Seq)
			s.Sessions.Unknown(store.Ref{Seq: m.Seq, At: m.At}, m.Body)
		}
	}
	if waiting := records.Order(recovered, s.Holds, s.restoreOne); len(waiting) > 0 {
		s.EnsureScheduled().Restore(waiting, &s.Settings)
	}
}

// restoreOne restores a message that was in the queue.
func (s *Messages) restoreOne(m *store.Recovered) {
	r := content.Recovered(m, s.Settings.PriorityOf(m.Priority))
	marks := backlog.Written
	if m.Due != 0 {
		backlog.Disorder(&s.Backlog)
		ttl, known := m.TTLThen.TTL()
		if !known { // released by a version that did not write it
			ttl = s.Settings.MessageTTL
		}
		r.Enqueued, r.Deadline = m.Due, store.After(m.Due, s.Expiry.Lower(ttl, m.TTL))
		marks |= backlog.Released
	}
	if s.Holds {
		r.Deadline = store.Never // it goes to its exchange
	}
	h := s.Backlog.PushPaged(&r, m.Body, uint64(m.At))
	s.Backlog.Entry(h).Marks = marks
	s.Sessions.Enter(m.Seq, h)
	if m.Deferred {
		s.Backlog.Entry(h).Marks |= backlog.Deferred
		s.Backlog.Take(h)
		if ensureDeferred(s).Add(h, 0); m.Until != 0 {
			s.Deferred.Postpone(h, m.Until)
		}
		s.Expiry.Apply(h)
		return
	}
	s.Expiry.Apply(h)
	s.Expiry.Add(h)
}
