package topology

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"candlemark/internal/measure/queuestats"
)

// waits is a virtual host with queues that set their stats.
type waits struct {
	*VHost
	t *testing.T
}

func (v waits) queue(name string) *Queue {
	q := &Queue{Name: name, Stats: v.NewQueueStats(name)}
	v.Publish(v.Directory().WithQueue(q))
	return q
}

func (v waits) expire(want ...string) {
	v.t.Helper()
	var got []string
	for _, q := range v.Expiring() {
		got = append(got, q.Name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		v.t.Errorf("%v, want %v", got, want)
	}
}

// expiring returns the values of a queue that holds expiring messages, or none.
func expiring(is bool) *queuestats.Values {
	if is {
		return &queuestats.Values{queuestats.Expiring: 3}
	}
	return &queuestats.Values{}
}

func TestExpiringQueues(t *testing.T) {
	v := waits{NewVHost("/"), t}
	a, b := v.queue("a"), v.queue("b")
	v.expire()
	a.Stats.Set(expiring(true))
	b.Stats.Set(expiring(false))
	v.expire("a")
	v.expire("a")
	b.Stats.Set(expiring(true))
	a.Stats.Set(expiring(false))
	v.expire("b")
	a.Stats.Set(expiring(true))
	again := v.queue("a") // a new queue of the same name
	a.Stats.Set(expiring(true))
	v.expire("b")
	again.Stats.Set(expiring(true))
	v.expire("a", "b")
	v.Publish(v.Directory().WithoutQueue("b"))
	v.expire("a")
	v.Publish(v.Directory().WithQueue(b)) // published again
	b.Stats.Set(expiring(true))
	v.expire("a", "b")
	var none *QueueStats
	none.Set(expiring(true))
	new(QueueStats).Set(expiring(true))
}

// TestExpiringQueuesAreBounded: deleted queues are removed, even if Expiring is never called, and a queue whose
// messages come and go is listed once.
func TestExpiringQueuesAreBounded(t *testing.T) {
	v := waits{NewVHost("/"), t}
	stays := v.queue("stays")
	for n := range 10 * manyGone {
		stays.Stats.Set(expiring(n%2 == 0))
		q := v.queue(fmt.Sprint(n))
		q.Stats.Set(expiring(true))
		v.Publish(v.Directory().WithoutQueue(q.Name))
		if len(v.waiting.list) > manyGone+10 {
			t.Fatal(len(v.waiting.list))
		}
	}
	v.expire()
	stays.Stats.Set(expiring(true))
	v.expire("stays")
}

// TestExpiringQueues_Races: a call of Expiring while queues change misses none that holds expiring messages throughout.
func TestExpiringQueues_Races(t *testing.T) {
	v := waits{NewVHost("/"), t}
	var all sync.WaitGroup
	var want []string
	for n := range 8 {
		q := v.queue(fmt.Sprint(n))
		want = append(want, q.Name)
		all.Go(func() {
			for i := range 5000 {
				q.Stats.Set(expiring(i%2 == 1))
			}
		})
	}
	all.Go(func() {
		for range 5000 {
			v.Expiring()
		}
	})
	all.Wait()
	v.expire(want...)
}
