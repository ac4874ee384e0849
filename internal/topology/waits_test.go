package topology

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"candlemark/internal/figures"
)

// waits is a virtual host with queues that say what they wait for.
type waits struct {
	*VHost
	t *testing.T
}

func (v waits) queue(name string) *Queue {
	q := &Queue{Name: name, Waits: v.NewWaits(name)}
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

// expiring returns a queue that holds messages that expire, or none.
func expiring(is bool) *figures.Values {
	if is {
		return &figures.Values{figures.Expiring: 3}
	}
	return &figures.Values{}
}

func TestExpiringQueues(t *testing.T) {
	v := waits{NewVHost("/"), t}
	a, b := v.queue("a"), v.queue("b")
	v.expire()
	a.Waits.Set(expiring(true))
	b.Waits.Set(expiring(false))
	v.expire("a")
	v.expire("a")
	b.Waits.Set(expiring(true))
	a.Waits.Set(expiring(false))
	v.expire("b")
	a.Waits.Set(expiring(true))
	again := v.queue("a") // another one of that name
	a.Waits.Set(expiring(true))
	v.expire("b")
	again.Waits.Set(expiring(true))
	v.expire("a", "b")
	v.Publish(v.Directory().WithoutQueue("b"))
	v.expire("a")
	v.Publish(v.Directory().WithQueue(b)) // it comes back
	b.Waits.Set(expiring(true))
	v.expire("a", "b")
	var none *Waits
	none.Set(expiring(true))
	new(Waits).Set(expiring(true))
}

// TestExpiringQueuesAreBounded: those that are gone are forgotten, also if nobody looks, and whose messages come and go is listed once.
func TestExpiringQueuesAreBounded(t *testing.T) {
	v := waits{NewVHost("/"), t}
	stays := v.queue("stays")
	for n := range 10 * manyGone {
		stays.Waits.Set(expiring(n%2 == 0))
		q := v.queue(fmt.Sprint(n))
		q.Waits.Set(expiring(true))
		v.Publish(v.Directory().WithoutQueue(q.Name))
		if len(v.waiting.list) > manyGone+10 {
			t.Fatal(len(v.waiting.list))
		}
	}
	v.expire()
	stays.Waits.Set(expiring(true))
	v.expire("stays")
}

// TestExpiringQueues_Races: who looks while queues change misses none of those that stay as they are then.
func TestExpiringQueues_Races(t *testing.T) {
	v := waits{NewVHost("/"), t}
	var all sync.WaitGroup
	var want []string
	for n := range 8 {
		q := v.queue(fmt.Sprint(n))
		want = append(want, q.Name)
		all.Go(func() {
			for i := range 5000 {
				q.Waits.Set(expiring(i%2 == 1))
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
