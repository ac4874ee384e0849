package supervision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"candlemark/actors/movers/recurring"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/activity"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/supervision/queries"
	"candlemark/supervision/testclock"
)

// movesOf returns the keeper of the broker's clock; cfg lacks what is counted.
func movesOf(cfg testclock.Config, works *activity.Works, qs *queries.Queries, runs *recurring.Stats, ahead func(context.Context) ([]management.Ahead, error)) *testclock.Keeper {
	cfg.Works, cfg.Next = works, func(ctx context.Context) (next management.Deadline, err error) {
		list, err := ahead(ctx)
		for i := range list {
			next.Earlier(list[i].Next)
		}
		return next, err
	}
	cfg.Unsettled = qs.Sums.Unsettled
	cfg.Counts = func() management.ClockCounts { return countsOf(qs, runs) }
	return testclock.New(cfg)
}

// countsOf returns the broker's counters for moves of its clock. Holders of delayed exchanges count as queues.
func countsOf(qs *queries.Queries, runs *recurring.Stats) (c management.ClockCounts) {
	released, letters := qs.Sums.Released(), qs.DeadLetters()
	c.Released, c.LeasesEnded, c.Expired = int64(released.Count()), int64(letters.QueuesExpired), int64(letters.Expired.Disabled+letters.Expired.AtMostOnce+letters.Expired.AtLeastOnce)
	for _, of := range []*management.Deaths{&letters.Expired, &letters.Rejected, &letters.MaxLen, &letters.DeliveryLimit, &letters.RuleFailed} {
		c.DeadLettered += int64(of.AtMostOnce + of.AtLeastOnce)
	}
	c.SchedulesFired = runs.Stored()
	for kind := range metrics.Holder {
		n := qs.Sums.Total(kind)
		c.LocksReturned += n[queuestats.TimedOut]
		c.Delivered += n[queuestats.Delivered] + n[queuestats.DeliveredNoAck]
		c.Settled += n[queuestats.Settled]
	}
	return c
}

// maxDown is the maximum number of queues that downQueues names.
const maxDown = 20

// downQueues names the queues that are down, which meet no deadlines.
func downQueues(vhosts *topology.VHosts) (warnings []string) {
	n := 0
	for _, v := range vhosts.List("") {
		for q := range v.Directory().AllListed() {
			if q.Stats == nil || q.Stats.Get(queuestats.Running) > 0 {
				continue
			}
			if n++; n <= maxDown {
				warnings = append(warnings, fmt.Sprintf("queue '%s' in vhost '%s' is down: none of its deadlines was met", q.Name, v.Name))
			}
		}
	}
	if n > maxDown {
		warnings = append(warnings, fmt.Sprintf("%d more queues are down", n-maxDown))
	}
	return warnings
}

// maxBusy is the maximum number of queues, or else actors, that busy names.
const maxBusy = 5

// busy says what a move of the clock waits for (CLK-8): the queues with most mail, or whose reads and writes the journal has not answered, or else
// other actors.
func (n *Node) busy() string {
	load, mails, open := n.dispatcher.Load(), map[string]int{}, map[store.QueueID]int{}
	actors := n.dispatcher.Busiest()
	for _, a := range actors {
		mails[a.Actor] = a.Mails
	}
	if j, ok := n.journal.(*watchedJournal); ok {
		open = j.unanswered()
	}
	var queues []waitedFor
	for _, v := range n.vhosts.List("") {
		for q := range v.Directory().Keepers() {
			w := waitedFor{name: fmt.Sprintf("queue '%s' in vhost '%s'", q.Name, v.Name), calls: open[store.QueueID(q.Incarnation)]}
			if q.Holds() {
				w.name = fmt.Sprintf("exchange '%s' in vhost '%s'", topology.HeldFor(q.Name), v.Name)
			}
			var turns bool
			if w.mails, turns = mails[q.PID.GetId()]; turns || w.calls > 0 {
				queues = append(queues, w)
			}
		}
	}
	if len(queues) == 0 {
		for _, a := range actors {
			queues = append(queues, waitedFor{name: a.Actor, mails: a.Mails})
		}
	}
	slices.SortStableFunc(queues, func(a, b waitedFor) int { return cmp.Compare(b.mails+b.calls, a.mails+a.calls) })
	text := fmt.Sprintf("%d actors are busy, %d mails wait: clients do not pause, or the disk is slow", load.Actors, load.Mails)
	for i := range queues[:min(len(queues), maxBusy)] {
		text += fmt.Sprintf("; %s has %d mails", queues[i].name, queues[i].mails)
		if queues[i].calls > 0 {
			text += fmt.Sprintf(" and waits for %d answers of the journal", queues[i].calls)
		}
	}
	return text
}

// waitedFor is a queue, exchange or other actor for which a move waits, with its unanswered calls of the journal.
type waitedFor struct {
	name         string
	mails, calls int
}
