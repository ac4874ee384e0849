package queue

import (
	"sync"

	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/queuestats"
)

// figures describe a queue at the end of a turn. Each part adds its own.
type figures struct {
	values  queuestats.Values
	held    int             // messages that are not in the backlog
	waiting int             // messages that clients see as neither ready nor unacked
	memory  int64           // bytes of all messages and of what belongs to them
	counted int64           // bytes that count towards the budget of all queues
	notes   int64           // bytes of what the queue keeps besides messages
	info    *mail.QueueInfo // to be filled in, nil if not asked for
}

// count sets the figures, and fills in info unless it is nil.
func (s *state) count(f *figures, info *mail.QueueInfo) {
	*f = figures{info: info, memory: s.messages.Backlog.Memory(), counted: s.messages.Backlog.Counted()}
	v := &f.values
	s.messages.Count(v)
	v[queuestats.Running], v[queuestats.Unacked], v[queuestats.Consumers] = 1, int64(s.consumers.Unacked()), int64(s.consumers.Len())
	for _, of := range parts {
		if p := of(s); p != nil {
			p.Figures(f)
		}
	}
	s.farewell.figures(f)
	v[queuestats.Memory] = f.memory
}

// unusedFigures holds values for reuse.
var unusedFigures = sync.Pool{New: func() any { return new(figures) }}

// figures returns the present figures. They may be recycled.
func (s *state) figures() *figures {
	f := unusedFigures.Get().(*figures)
	s.count(f, nil)
	return f
}

func (f *figures) recycle() { unusedFigures.Put(f) }

// describe answers DescribeQueue. It changes nothing and does not renew the lease (LEASE-4).
func (s *state) describe(m *mail.DescribeQueue) {
	info := &mail.QueueInfo{
		Reply: m.Done(nil), Name: s.queue.Name, LastUse: s.messages.Dates.Date(s.used), Counts: s.messages.Counts,
		Effective: s.effective.Value().Effective(), Settings: s.messages.Settings,
		Arguments: s.queue.Arguments, Durable: s.queue.Durable, AutoDelete: s.queue.AutoDelete, Exclusive: s.queue.Exclusive,
	}
	f := new(figures)
	s.count(f, info)
	info.Figures = f.values.Figures()
	inspect.DescribeTimes(info, &s.messages, &s.consumers)
	inspect.DescribeConsumers(info, &s.consumers, s.messages.Settings.ConsumerTimeout, m.Consumers)
	if m.Ahead {
		info.Ahead = s.shown().Ahead(s.messages.Journal.At)
	}
	s.out.Send(m.ReplyTo, info)
}
