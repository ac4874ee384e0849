package supervision

import (
	"maps"
	"sync"

	"candlemark/internal/measure/activity"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
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
	return works, &watchedJournal{Journal: cfg.Journal, works: works, open: map[store.QueueID]int{}}, meta
}

// watchedJournal counts calls that are to be answered. Appends without an answer are not counted: nothing follows from them.
type watchedJournal struct {
	store.Journal
	works *activity.Works

	mu   sync.Mutex
	open map[store.QueueID]int // unanswered calls
}

// begin counts a call; the result ends it.
func (j *watchedJournal) begin(q store.QueueID) (end func()) {
	j.works.Begin()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open[q]++
	return func() {
		j.works.End()
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.open[q]--; j.open[q] == 0 {
			delete(j.open, q)
		}
	}
}

// unanswered returns the number of unanswered calls of each queue.
func (j *watchedJournal) unanswered() map[store.QueueID]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.open)
}

// Append implements store.Journal.
func (j *watchedJournal) Append(q store.QueueID, records []store.Record, done func(error)) {
	if done == nil {
		j.Journal.Append(q, records, nil)
		return
	}
	end := j.begin(q)
	j.Journal.Append(q, records, func(err error) {
		defer end()
		done(err)
	})
}

// Read implements store.Journal.
func (j *watchedJournal) Read(q store.QueueID, want []store.Ref, done func([]store.Content)) {
	end := j.begin(q)
	j.Journal.Read(q, want, func(c []store.Content) {
		defer end()
		done(c)
	})
}

// Recall implements store.Journal.
func (j *watchedJournal) Recall(q store.QueueID, done func([]store.Recovered, error)) {
	end := j.begin(q)
	j.Journal.Recall(q, func(r []store.Recovered, err error) {
		defer end()
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
