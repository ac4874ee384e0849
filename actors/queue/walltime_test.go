package queue

import (
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// TestSleep_TTL35: after a suspend of the machine, messages past their deadlines expire, leases start again, and unacknowledged
// deliveries keep their remaining time.
func TestSleep_TTL35(t *testing.T) {
	const hour = 3_600_000
	sleep := func(c *core) {
		c.now += clock.Instant(hour * time.Millisecond)
		c.machineSlept(hour*time.Millisecond, c.now)
		c.feed(timerFired{})
	}
	t.Run("messages", func(t *testing.T) {
		c := newCore(t, dlx)
		c.publish(msg("a", 2*hour), msg("b", hour), msg("c", 10), msg("d", -1))
		sleep(c)
		c.want("dead", c.seenOff(), "expired c", "expired b")
		c.at(2 * hour)
		c.want("dead", c.seenOff(), "expired a")
	})
	t.Run("lease", func(t *testing.T) {
		c := newCore(t, expires(1000))
		c.at(900)
		sleep(c)
		c.at(hour + 900 + 999)
		if c.phase != live {
			t.Fatal("the lease ended in the machine's sleep")
		}
		c.at(hour + 900 + 1000)
		if c.phase != retiring {
			t.Fatal("the lease has not ended")
		}
	})
	t.Run("deliveries", func(t *testing.T) {
		c := newCore(t, timeout(1000))
		c.consume(ch1, "x", 0)
		c.put("a", "b")
		c.at(400)
		sleep(c)
		c.settle(ch1, mail.Ack, 1, 1)
		c.at(hour + 999)
		if n := len(all[*mail.DeliveriesRequeued](c)); n != 0 || c.consumers.Unacked() != 1 {
			t.Fatalf("%d were taken back, %d unacknowledged", n, c.consumers.Unacked())
		}
		c.at(hour + 1000)
		if n := len(all[*mail.DeliveriesRequeued](c)); n != 1 {
			t.Fatalf("%d were taken back", n)
		}
	})
}
