package queries

import (
	"cmp"
	"context"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/admin/management"
	"candlemark/internal/routing/topology"
)

// An answer to Ahead is valid for a second, or 20 times as long as it took to compute, so that it takes at most a
// twentieth of the broker's time, for any number of queues. With a test clock each answer is a new one.
const (
	aheadFresh = 1e9 // ns
	aheadShare = 20
)

// lookedAhead is the last answer to Ahead, and its time in ns of real time.
type lookedAhead struct {
	list     []management.Ahead
	at, took int64
}

// Ahead implements management.Queues.
func (qs *Queries) Ahead(ctx context.Context) ([]management.Ahead, error) {
	leave, err := qs.looking.take(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	now := int64(qs.cfg.Asker.Clock.Real().Now())
	if last := &qs.ahead; !qs.cfg.Asker.Clock.Manual() && last.list != nil && now-last.at < max(aheadFresh, aheadShare*last.took) {
		return last.list, nil
	}
	list, err := qs.lookAhead(ctx)
	if err != nil {
		return nil, err
	}
	done := int64(qs.cfg.Asker.Clock.Real().Now())
	qs.ahead = lookedAhead{list, done, done - now}
	return list, nil
}

// urgency returns the order in which queues are asked, the highest first: queues with expiring messages, with other due
// times, and queues that can only end; 0 for queues with none of these.
func urgency(q *topology.Queue) int {
	switch w := q.Stats; {
	case w.Expiring(), w == nil: // a holder
		return 3
	case w.Timed():
		return 2
	case w.Leased():
		return 1
	}
	return 0
}

// lookAhead asks the queues with due times, only the first ones if there are too many.
func (qs *Queries) lookAhead(ctx context.Context) ([]management.Ahead, error) {
	list, left := []management.Ahead{}, management.MaxDue
	for _, v := range qs.cfg.VHosts.List("") {
		var queues []*topology.Queue
		for q := range v.Directory().Keepers() {
			if urgency(q) > 0 {
				queues = append(queues, q)
			}
		}
		a := management.Ahead{VHost: v.Name, Queues: len(queues)}
		if len(queues) > left {
			slices.SortStableFunc(queues, func(x, y *topology.Queue) int { return cmp.Compare(urgency(y), urgency(x)) })
			queues = queues[:left]
		}
		left -= len(queues)
		err := qs.cfg.Asker.All(ctx, len(queues), func(i int, r mail.Request) {
			qs.cfg.Asker.Post(queues[i].PID, &mail.DescribeQueue{Request: r, Ahead: true})
		}, func(answer any) {
			if info := answer.(*mail.QueueInfo); info.Ahead != nil {
				a.Asked++
				qs.addAhead(&a, info)
			}
		})
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// addAhead adds the messages due of a queue.
func (qs *Queries) addAhead(a *management.Ahead, info *mail.QueueInfo) {
	expiring := management.Dropped
	if info.Settings.HasDLX {
		expiring = management.DeadLettered
	}
	name := topology.HeldFor(info.Name)
	a.Counts[expiring].Add(info.Ahead.Expiring)
	a.Counts[management.Released].Add(info.Ahead.Scheduled)
	a.Counts[management.LockReturns].Add(info.Ahead.Locks)
	a.Next.Earlier(management.Deadline{At: info.Expiring.Next, Fate: expiring, VHost: a.VHost, Name: name, Exchange: name != info.Name})
	a.Next.Earlier(management.Deadline{At: info.Scheduled.NextDue, Fate: management.Released, VHost: a.VHost, Name: name, Exchange: name != info.Name})
	a.Next.Earlier(management.Deadline{At: info.Ahead.NextLock, Fate: management.LockReturns, VHost: a.VHost, Name: name, Exchange: name != info.Name})
	if ends := info.Lease.Ends; ends != 0 {
		a.Next.Earlier(management.Deadline{At: ends, Fate: management.QueueEnds, VHost: a.VHost, Name: name, Exchange: name != info.Name})
		now := qs.cfg.Asker.Clock.Date(qs.cfg.Asker.Clock.Now().Ceil())
		class := 0
		for class < len(mail.AheadHorizons) && ends-now > mail.AheadHorizons[class] {
			class++
		}
		a.Counts[management.QueueEnds][class]++
	}
}
