package supervision

import (
	"context"
	"fmt"

	"candlemark/actors/movers/recurring"
	"candlemark/actors/system/mailbox"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/activity"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/supervision/queries"
	"candlemark/supervision/testclock"
)

// watch makes the calls of the stores works, if the broker has a test clock; otherwise it returns the stores.
func watch(cfg *Config) (*activity.Works, store.Journal, definitions.Store) {
	if cfg.Clock == nil || !cfg.Clock.Manual() {
		return nil, cfg.Journal, cfg.Meta
	}
	works := &activity.Works{}
	meta := cfg.Meta
	if meta != nil {
		meta = &watchedDefinitions{meta, works}
	}
	return works, &watchedJournal{cfg.Journal, works}, meta
}

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

func busy(l mailbox.Load) string {
	return fmt.Sprintf("%d actors are busy, %d mails wait: clients do not pause", l.Actors, l.Mails)
}

// watchedJournal counts calls that are to be answered. Appends without an answer are not counted: nothing follows from them.
type watchedJournal struct {
	store.Journal
	works *activity.Works
}

// Append implements store.Journal.
func (j *watchedJournal) Append(q store.QueueID, records []store.Record, done func(error)) {
	if done == nil {
		j.Journal.Append(q, records, nil)
		return
	}
	j.works.Begin()
	j.Journal.Append(q, records, func(err error) {
		defer j.works.End()
		done(err)
	})
}

// Read implements store.Journal.
func (j *watchedJournal) Read(q store.QueueID, want []store.Ref, done func([]store.Content)) {
	j.works.Begin()
	j.Journal.Read(q, want, func(c []store.Content) {
		defer j.works.End()
		done(c)
	})
}

// Recall implements store.Journal.
func (j *watchedJournal) Recall(q store.QueueID, done func([]store.Recovered, error)) {
	j.works.Begin()
	j.Journal.Recall(q, func(r []store.Recovered, err error) {
		defer j.works.End()
		done(r, err)
	})
}

// watchedDefinitions counts changes until they are stored.
type watchedDefinitions struct {
	definitions.Store
	works *activity.Works
}

// Apply implements definitions.Store.
func (d *watchedDefinitions) Apply(c definitions.Change, done func(uint64, error)) {
	d.works.Begin()
	d.Store.Apply(c, func(revision uint64, err error) {
		defer d.works.End()
		if done != nil {
			done(revision, err)
		}
	})
}
