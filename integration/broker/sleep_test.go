package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/measure/clock"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// laptop is a machine that can be suspended, and whose clock can be set.
type laptop struct {
	start      time.Time
	set, slept atomic.Int64 // ns
	// paused, unless nil, is closed when the process resumes: until then reading the clock blocks.
	paused atomic.Pointer[chan struct{}]
}

func (l *laptop) Now() (int64, time.Duration) {
	if resumed := l.paused.Load(); resumed != nil {
		<-*resumed
	}
	now := time.Now()
	return now.UnixNano() + l.set.Load() + l.slept.Load(), now.Sub(l.start)
}

func (l *laptop) Boottime() (int64, bool) { return int64(time.Since(l.start)) + l.slept.Load(), true }

// onLaptop runs a broker on a laptop.
func onLaptop(t *testing.T, test func(b *testkit.Bubble, l *laptop), change ...func(*supervision.Config)) {
	t.Helper()
	l := &laptop{}
	testkit.RunStored(t, func(cfg *supervision.Config) {
		if l.start.IsZero() {
			l.start = time.Now()
		}
		cfg.Clock = clock.Of(l)
		for _, f := range change {
			f(cfg)
		}
	}, func(b *testkit.Bubble) { test(b, l) })
}

// Deadlines that passed while the machine was suspended are due when it wakes; later ones are due that much earlier (TTL-35). No
// queue expires because of a suspend.
func TestTTL35_Sleep(t *testing.T) {
	onLaptop(t, func(b *testkit.Bubble, l *laptop) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead"))
		ch.Declare("strict", deadTo("dead", "x-expiry-order", "strict"))
		ch.Declare("leased", amqp.Table{"x-expires": 60_000})
		delayed(b, ch, "later", "fanout", "due", "")
		arrivals := b.Connect().Open().Watch("dead")
		b.AdvanceTo(time.Second)
		for _, m := range []string{"3600000", "10000", "1800000", "7200000"} {
			ch.Send("", "q", testkit.Expiring(m, m))
		}
		ch.Send("", "strict", testkit.Expiring("strict", "20000"))
		ch.Send("later", "", held("held", int32(1_800_000)))
		b.Advance(5 * time.Second)
		l.slept.Add(int64(time.Hour - 5*time.Second))
		b.Advance(time.Second) // until the broker reads the clock
		var got []string
		for range 4 {
			a := testkit.Receive(b, arrivals)
			got = append(got, string(a.Body))
			if a.At > 7*time.Second {
				t.Errorf("%s came %v after the machine woke", a.Body, a.At-6*time.Second)
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != "10000 1800000 3600000 strict" {
			t.Errorf("overdue: %v", got)
		}
		expectDrained(b, ch, "due", "held")
		if a := <-arrivals; string(a.Body) != "7200000" || a.At < time.Hour || a.At > time.Hour+6*time.Second {
			t.Errorf("%s after %v awake", a.Body, a.At)
		}
		if b.Log.Count("set") != 0 {
			t.Error("the sleep was taken for a clock that was set")
		}
	})
}

func TestTTL35_SleepKeepsLeases(t *testing.T) {
	onLaptop(t, func(b *testkit.Bubble, l *laptop) {
		b.Connect().Open().Declare("leased", amqp.Table{"x-expires": 10_000})
		b.AdvanceTo(5500 * ms)
		l.slept.Add(int64(time.Hour))
		ends(b, "leased", 16*time.Second) // anew from the time at which the broker noticed the suspend, 6 s
	})
}

// Setting the clock does not change deadlines in memory (TTL-35), only dates.
func TestTTL35_ClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{24 * time.Hour, -24 * time.Hour, 87_600 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			onLaptop(t, func(b *testkit.Bubble, l *laptop) {
				ch := b.Connect().Open()
				ch.Declare("dead", nil)
				ch.Declare("q", deadTo("dead"))
				delayed(b, ch, "later", "fanout", "due", "")
				arrivals := b.Connect().Open().Watch("dead")
				b.AdvanceTo(time.Second)
				ch.Send("", "q", testkit.Expiring("m", "10000"))
				ch.Send("later", "", held("held", int32(10_000)))
				b.AdvanceTo(5500 * ms)
				l.set.Add(int64(by))
				b.AdvanceTo(6500 * ms)
				ch.Send("", "q", testkit.Expiring("after", "10000"))
				if b.Log.Count("was set") != 1 {
					t.Error("nobody has said that the clock was set")
				}
				expectDrained(b, ch, "due", "")
				for _, want := range []struct {
					body string
					due  time.Duration
				}{{"m", 11 * time.Second}, {"after", 16500 * ms}} {
					a := testkit.Receive(b, arrivals)
					if string(a.Body) != want.body || a.At != want.due {
						t.Errorf("%s came at %v, want %s at %v", a.Body, a.At, want.body, want.due)
					}
					died := a.Headers["x-death"].([]any)[0].(amqp.Table)["time"].(time.Time)
					if want := time.Now().Add(by); died.Sub(want).Abs() > 2*time.Second {
						t.Errorf("died at %v by x-death, the wall clock says %v", died, want)
					}
				}
				expectDrained(b, ch, "due", "held")
			})
		})
	}
}

// A date in a message is compared with the wall clock at the arrival of the message, and dates are shown by the wall clock; how
// long a message waits does not depend on the wall clock. A suspend counts for both (TTL-35).
func TestTTL35_Dates(t *testing.T) {
	onLaptop(t, func(b *testkit.Bubble, l *laptop) {
		ch := b.Connect().Open()
		ch.Declare("q", amqp.Table{"x-delayed-messages": true, "x-stamp-expiry": true, "x-expires-at-header": "until"})
		wall := func(in time.Duration) string {
			return fmt.Sprint((time.Now().UnixMilli() + time.Duration(l.set.Load()+l.slept.Load()).Milliseconds()) + in.Milliseconds())
		}
		send := func(body, header string, v any) {
			ch.Send("", "q", amqp.Publishing{Body: []byte(body), Headers: amqp.Table{header: v}})
		}
		for _, by := range []time.Duration{2 * time.Hour, -5 * time.Hour, 3 * time.Hour} {
			b.Advance(500 * ms)
			l.set.Add(int64(by))
			b.Advance(1500 * ms)
			from := b.Elapsed()
			send("dated", "x-deliver-at", wall(time.Minute))
			send("delayed", "x-delay", int64(61_000))
			send("over", "until", wall(-ms))
			b.AdvanceTo(from + time.Minute - 2*ms)
			expectDrained(b, ch, "q", "")
			b.AdvanceTo(from + time.Minute + 2*ms)
			expectDrained(b, ch, "q", "dated")
			b.AdvanceTo(from + 61*time.Second + 2*ms)
			expectDrained(b, ch, "q", "delayed")
			send("until", "until", wall(time.Minute))
			synctest.Wait()
			d := ch.Fetch("q")
			if at, _ := d.Headers["x-enqueued-at"].(int64); fmt.Sprint(at) != wall(0) {
				t.Errorf("enqueued at %d, the wall clock says %s", at, wall(0))
			}
			if at, _ := d.Headers["x-expires-at"].(int64); fmt.Sprint(at) != d.Headers["until"] {
				t.Errorf("expires at %d, the message says %v", at, d.Headers["until"])
			}
		}
		send("dated", "x-deliver-at", wall(time.Hour))
		send("delayed", "x-delay", int64(3_600_000))
		send("later", "x-delay", int64(3*3_600_000))
		b.Advance(500 * ms)
		l.slept.Add(int64(2 * time.Hour))
		b.Advance(1100 * ms)
		expectDrained(b, ch, "q", "dated delayed")
	})
}

// After the clock was set, a restart relies on it: no message published after the change expires early, and none is kept longer
// than its TTL (TTL-26, TTL-35). The message "before" was published 10 min before the change and 30 min before the restart, the
// message "after" 10 min before the restart; both have a TTL of 1 h.
func TestTTL35_SetAndRestarted(t *testing.T) {
	for _, row := range []struct {
		by   time.Duration
		want string // which messages expire, and how long after the restart
	}{
		{10 * time.Minute, "before 20m0s, after 50m0s"}, // the elapsed time by the wall clock
		{2 * time.Hour, "before 0s, after 50m0s"},
		{-24 * time.Hour, "after 50m0s, before 1h0m0s"}, // its whole TTL, since the elapsed time is unknown
	} {
		t.Run(row.by.String(), func(t *testing.T) {
			onLaptop(t, func(b *testkit.Bubble, l *laptop) {
				ch := b.Connect().Open()
				durable(b, ch, "dead", nil)
				durable(b, ch, "q", deadTo("dead"))
				stores(b, ch, "", "q", persistent("before", "3600000"))
				b.Advance(10 * time.Minute)
				l.set.Add(int64(row.by))
				b.Advance(10 * time.Minute)
				stores(b, ch, "", "q", persistent("after", "3600000"))
				b.Advance(10 * time.Minute)
				b.Restart(0)
				began := b.Elapsed()
				arrivals := b.Connect().Open().Watch("dead")
				var got []string
				for range 2 {
					a := <-arrivals
					got = append(got, fmt.Sprint(string(a.Body), " ", (a.At-began).Round(time.Minute)))
				}
				if text := strings.Join(got, ", "); text != row.want {
					t.Errorf("%s, want %s", text, row.want)
				}
			})
		})
	}
}

// However the clocks change, no message is delivered early, lost, or more than a second late in time that the machine is awake
// (TTL-31, TTL-35).
func TestTTL35_AtRandom(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	onLaptop(t, func(b *testkit.Bubble, l *laptop) {
		defer func() {
			if b.Failed() {
				b.Logf("seed %d", seed)
			}
		}()
		ch := b.Connect().Open()
		durable(b, ch, "dead", nil)
		ch.Declare("q", deadTo("dead"))
		delayed(b, ch, "later", "fanout", "dead", "")
		arrivals := b.Connect().Open().Watch("dead")
		type sleep struct{ at, slept time.Duration } // effective from at on
		sleeps := []sleep{{}}
		due := map[string]time.Duration{} // by body; in time suspended and awake
		for i := range 500 {
			b.Advance(time.Duration(r.IntN(5000)) * ms)
			switch r.IntN(8) {
			case 0:
				l.slept.Add(int64(1+r.IntN(10_000)) * int64(time.Second))
				sleeps = append(sleeps, sleep{b.Elapsed(), time.Duration(l.slept.Load())})
				b.Advance(time.Second) // until the broker has noticed the suspend
			case 1:
				l.set.Add(int64(r.IntN(2_000_000)-1_000_000) * int64(time.Second))
			}
			body, wait := fmt.Sprint(i), 1+r.IntN(1<<uint(1+r.IntN(25)))
			due[body] = b.Elapsed() + time.Duration(l.slept.Load()) + time.Duration(wait)*ms
			if r.IntN(2) == 0 {
				ch.Send("", "q", testkit.Expiring(body, fmt.Sprint(wait)))
			} else {
				ch.Send("later", "", held(body, int64(wait)))
			}
			synctest.Wait()
		}
		for range 500 {
			a := <-arrivals
			at, ok := due[string(a.Body)]
			if delete(due, string(a.Body)); !ok {
				t.Fatalf("%s came twice", a.Body)
			}
			awake := time.Duration(math.MaxInt64) // the due time on the clock that runs only while awake
			for i, n := range sleeps {
				if x := max(at-n.slept, n.at); i+1 == len(sleeps) || x < sleeps[i+1].at {
					awake = x
					break
				}
			}
			if late := a.At - awake; late < 0 || late > time.Second+2*ms {
				t.Errorf("%s came at %v, %v late", a.Body, a.At, late)
			}
		}
	})
}

// Ten years, to the millisecond (TTL-2, TTL-34, LEASE-1, DLY-2).
func TestTTL34_TenYears(t *testing.T) {
	const years = 315_360_000_000
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		client := b.Connect()
		ch := client.Open()
		ch.Declare("dead", nil)
		ch.Declare("own", deadTo("dead"))
		ch.Declare("queue's", deadTo("dead", "x-message-ttl", int64(years)))
		ch.Declare("strict", deadTo("dead", "x-expiry-order", "strict"))
		ch.Declare("leased", amqp.Table{"x-expires": int64(years)})
		delayed(b, ch, "later", "fanout", "due", "")
		b.AdvanceTo(time.Second)
		ch.Declare("leased", amqp.Table{"x-expires": int64(years)})
		ch.Send("", "own", testkit.Expiring("m", fmt.Sprint(years)))
		ch.Send("", "queue's", testkit.Text("m"))
		ch.Send("", "strict", testkit.Expiring("m", fmt.Sprint(years)))
		ch.Send("later", "", held("m", int64(years)))
		synctest.Wait()
		client.Leave() // its heartbeats would slow down ten years of virtual time
		b.AdvanceTo(time.Second + years*ms - 1)
		for queue, ready := range map[string]int{"own": 1, "queue's": 1, "strict": 1, "leased": 0, "dead": 0, "due": 0} {
			if n := b.Describe(queue).Ready; n != ready {
				t.Errorf("%s has %d messages 1 ns before their time", queue, n)
			}
		}
		b.Advance(ms)
		for queue, ready := range map[string]int{"own": 0, "queue's": 0, "strict": 0, "dead": 3, "due": 1} {
			if n := b.Describe(queue).Ready; n != ready {
				t.Errorf("%s has %d messages after ten years", queue, n)
			}
		}
		if b.Queue("leased") != nil {
			t.Error("the lease has not ended")
		}
	})
}
