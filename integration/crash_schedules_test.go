package integration

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// TestCrashSchedules_REC10 kills the broker while a schedule has a run each second: each queue has each run once.
func TestCrashSchedules_REC10(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(loggedSeed(t), 8))
	dir := filepath.Join(t.TempDir(), "data")
	queues := []string{"one", "two"}
	for round := range *crashRounds + 3 {
		b := startIn(t, dir)
		if round == 0 {
			c := b.dial()
			for _, name := range queues {
				_, err := c.QueueDeclare(name, true, false, false, false, nil)
				c.must(err)
				c.must(c.QueueBind(name, "", "amq.fanout", false, nil))
			}
			b.request("PUT", "/api/x/schedules/%2F/each", `{"cron":"* * * * * *","exchange":"amq.fanout","missed":"all"}`, 200)
		}
		second := time.Until(time.Now().Truncate(time.Second).Add(time.Second))
		<-time.After(time.Second + second + time.Duration(r.IntN(8000))*time.Microsecond) // chosen by the test: a run is being published
		b.kill()
	}
	b := startIn(t, dir)
	c := b.dial()
	<-time.After(1500 * time.Millisecond) // missed runs are published
	b.request("POST", "/api/x/schedules/%2F/each/pause", "", 204)
	for _, name := range queues {
		var last int64
		n := 0
		for ; ; n++ {
			d, ok, err := c.Get(name, true)
			c.must(err)
			if !ok {
				break
			}
			at := d.Headers["x-schedule-time"].(int64)
			if n > 0 && at != last+1000 {
				t.Errorf("%s: a run %d ms after the one before", name, at-last)
			}
			last = at
		}
		if n < 2**crashRounds+6 {
			t.Errorf("%s has %d runs", name, n)
		}
	}
	b.stop()
}
