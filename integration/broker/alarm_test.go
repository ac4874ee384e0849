package broker

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	amqp "github.com/rabbitmq/amqp091-go"
)

// meter is a machine of 1,000 MB of memory, half of which the broker may use, and a disk of which 50 MB must stay free.
type meter struct {
	mu           sync.Mutex
	memory, disk int64 // MB
	bound        int64
	released     int
	gives        int64 // MB that the next release returns to the OS
}

const mb = 1_000_000

func (m *meter) set(memory, disk int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memory, m.disk = memory, disk
}

func (m *meter) Memory() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory * mb
}

func (m *meter) Total() int64 { return 1000 * mb }

func (m *meter) Disk() (free int64, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disk * mb, true
}

func (m *meter) Reserved() int64 { return 0 }

func (m *meter) Collections() uint64 { return 0 }

func (m *meter) Collect() { m.Release() }

func (m *meter) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.released++
	m.memory -= m.gives
	m.gives = 0
}

func (m *meter) Bound(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bound = bytes / mb
}

// metered runs test on a broker with the meter's memory and disk.
func metered(t *testing.T, test func(b *testkit.Bubble, m *meter)) {
	m := &meter{memory: 100, disk: 1000}
	testkit.Run(t, func(c *supervision.Config) {
		c.Alarms = resources.Config{Meter: m, Watermark: config.Share(0.5), DiskFree: config.Amount{Bytes: 50 * mb}}
	}, func(b *testkit.Bubble) {
		b.Advance(2 * time.Second)
		test(b, m)
	})
}

// publisher is a client that publishes in the background, and receives notifications of alarms.
type publisher struct {
	*testkit.Channel
	news <-chan amqp.Blocking
}

func connectPublisher(b *testkit.Bubble) publisher {
	c := b.Connect()
	return publisher{c.Open(), c.NotifyBlocked(make(chan amqp.Blocking, 10))}
}

func (p publisher) hears(b *testkit.Bubble, reason string) {
	b.Helper()
	if n := testkit.Receive(b, p.news); n.Active != (reason != "") || n.Reason != reason {
		b.Errorf("received %+v, want reason %q", n, reason)
	}
}

// An alarm blocks all publishers, connected before or during it, and no other clients. Publishing resumes when both alarms are
// over; a publisher notified of one alarm is not notified of the other.
func TestBlocked_Alarms(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		consumer := b.Connect()
		ch := consumer.Open()
		ch.Declare("q", nil)
		taken := ch.Tail("q")
		quiet := consumer.NotifyBlocked(make(chan amqp.Blocking, 10))
		old := connectPublisher(b)
		old.Send("", "q", testkit.Text("before"))
		testkit.Receive(b, taken)
		m.set(501, 1000)
		b.Advance(time.Second)
		fresh := connectPublisher(b)
		for _, p := range []publisher{old, fresh} {
			testkit.Silent(b, p.news, time.Second)
			p.Send("", "q", testkit.Text("during"))
			p.hears(b, "low on memory")
			testkit.Receive(b, taken) // a message that was read is accepted
			go p.Send("", "q", testkit.Text("waits"))
		}
		if ch.Fetch("q") != nil { // the get is served during the alarm
			t.Error("the queue is not empty")
		}
		m.set(501, 49)
		b.Advance(time.Second)
		third := connectPublisher(b)
		third.Send("", "q", testkit.Text("third"))
		third.hears(b, "low on disk & memory")
		testkit.Receive(b, taken)
		m.set(100, 49)
		b.Advance(time.Second)
		fourth := connectPublisher(b)
		fourth.Send("", "q", testkit.Text("fourth"))
		fourth.hears(b, "low on disk")
		testkit.Receive(b, taken)
		testkit.Silent(b, old.news, 0)
		testkit.Silent(b, taken, time.Second)
		m.set(100, 50)
		testkit.Silent(b, taken, 8*time.Second) // the alarm ends 10 s after its cause
		for _, p := range []publisher{old, fresh, third, fourth} {
			p.hears(b, "")
		}
		for range 2 {
			if d := testkit.Receive(b, taken); string(d.Body) != "waits" {
				t.Errorf("%s", d.Body)
			}
		}
		testkit.Silent(b, quiet, 0)
		b.Connect().Open().Send("", "q", testkit.Text("after"))
		testkit.Receive(b, taken)
	})
}

// TestMemoryElsewhere_CLU36: a memory alarm of another node blocks publishers until it is over, or the node is gone.
func TestMemoryElsewhere_CLU36(t *testing.T) {
	c := &threeNodes{online: [3]bool{true, true, true}}
	short := func(r *management.Report) {
		c.mu.Lock()
		c.report = r
		c.mu.Unlock()
	}
	testkit.Run(t, func(cfg *supervision.Config) {
		cfg.Cluster = c
		cfg.Alarms = resources.Config{Meter: &meter{memory: 100, disk: 1000}, Watermark: config.Share(0.5), DiskFree: config.Amount{Bytes: 50 * mb}}
	}, func(b *testkit.Bubble) {
		p := connectPublisher(b)
		p.Declare("q", nil)
		b.Advance(5 * time.Second)
		for range 2 {
			short(&management.Report{Machine: management.Machine{MemoryAlarm: true}})
			b.Advance(2 * time.Second)
			p.Send("", "q", testkit.Text("during"))
			p.hears(b, "low on memory")
			short(&management.Report{Machine: management.Machine{DiskAlarm: true}}) // a majority has room (CLU-14)
			p.hears(b, "")
		}
		short(&management.Report{Machine: management.Machine{MemoryAlarm: true}})
		b.Advance(2 * time.Second)
		p.Send("", "q", testkit.Text("again"))
		p.hears(b, "low on memory")
		if m, err := b.Node.API().Machine(t.Context()); err != nil || m.MemoryAlarm {
			t.Errorf("the alarm is this node's own: %v", err)
		}
		short(nil)
		p.hears(b, "")
	})
}

// A memory alarm ends 5% below the watermark, so that it does not flap.
func TestMemoryAlarm_Hysteresis(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		p := connectPublisher(b)
		p.Declare("q", nil)
		m.set(501, 1000)
		b.Advance(time.Second)
		p.Send("", "q", testkit.Text("during"))
		p.hears(b, "low on memory")
		m.set(480, 1000)
		testkit.Silent(b, p.news, time.Minute)
		m.set(475, 1000)
		p.hears(b, "")
		m.set(500, 1000)
		b.Advance(time.Second)
		p.Send("", "q", testkit.Text("again"))
		testkit.Silent(b, p.news, time.Minute)
	})
}

// Changed limits take effect at once, and the memory limit never exceeds the memory of the machine.
func TestAlarms_ChangedLimits(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		for _, c := range []struct {
			name         string
			change       func()
			memory, disk bool
			limit, least int64
		}{
			{"as started", func() {}, false, false, 500, 50},
			{"share", func() { b.Node.API().SetMemoryWatermark(config.Share(0.05)) }, true, false, 50, 50},
			{"size", func() { b.Node.API().SetMemoryWatermark(config.Amount{Bytes: 101 * mb}) }, false, false, 101, 50},
			{"nothing", func() { b.Node.API().SetMemoryWatermark(config.Share(0)) }, true, false, 0, 50},
			{"more than there is", func() { b.Node.API().SetMemoryWatermark(config.Amount{Bytes: 9000 * mb}) }, false, false, 1000, 50},
			{"disk", func() { b.Node.API().SetDiskFreeLimit(config.Amount{Bytes: 1001 * mb}) }, false, true, 1000, 1001},
			{"memory during a disk alarm", func() { b.Node.API().SetMemoryWatermark(config.Share(0)) }, true, true, 0, 1001},
			{"disk relative", func() { b.Node.API().SetDiskFreeLimit(config.Share(1)) }, true, false, 0, 1000},
			{"journal full", func() { b.Node.JournalFull(true) }, true, true, 0, 1000},
			{"both over", func() {
				b.Node.JournalFull(false)
				b.Node.API().SetMemoryWatermark(config.Share(0.5))
			}, false, false, 500, 1000},
		} {
			c.change()
			got, err := b.Node.API().Machine(t.Context())
			if err != nil || got.MemoryAlarm != c.memory || got.DiskAlarm != c.disk || got.MemoryLimit != c.limit*mb || got.DiskLimit != c.least*mb {
				t.Errorf("%s: memory %v of %d, disk %v of %d (%v)", c.name, got.MemoryAlarm, got.MemoryLimit, got.DiskAlarm, got.DiskLimit, err)
			}
		}
		if m.bound != 450 {
			t.Errorf("the collector is bound to %d MB", m.bound)
		}
	})
}

// Memory is released to the OS when it has grown and the broker is idle, and during an alarm, but at limited intervals.
func TestAlarms_Release(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		count := func() int {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.released
		}
		b.Advance(time.Hour)
		if n := count(); n != 0 {
			t.Errorf("%d releases of little", n)
		}
		m.set(600, 1000)
		m.mu.Lock()
		m.gives = 450
		m.mu.Unlock()
		b.Advance(2 * time.Second)
		if n := count(); n != 1 || m.Memory() != 150*mb {
			t.Errorf("%d releases in an alarm, %d left", n, m.Memory())
		}
		b.Advance(4 * time.Hour)
		if n := count(); n < 40 || n > 60 {
			t.Errorf("%d releases in four hours without use", n)
		}
		m.set(600, 1000)
		before := count()
		b.Advance(10 * time.Minute)
		if n := count() - before; n < 15 || n > 25 {
			t.Errorf("%d releases in ten minutes of an alarm", n)
		}
		if b.Log.Count("memory resource limit alarm set on node") != 1 { // the first alarm was averted by a release
			t.Error("the log has no alarm")
		}
	})
}

// During an alarm queues keep half as much content in memory as otherwise, and the HTTP API shows how much they have paged out.
func TestAlarms_QueuesPageOut(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		m.set(1, 1000)
		b.Node.API().SetMemoryWatermark(config.Amount{Bytes: 8 * mb})
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		for range 30 { // 3 MB of the permitted 4 MB
			ch.Send("", "q", amqp.Publishing{Body: make([]byte, 100_000)})
		}
		b.Advance(10 * time.Second)
		if n := b.Describe("q").PagedBytes; n != 0 {
			t.Errorf("%d bytes are paged out", n)
		}
		m.set(9, 1000)
		b.Advance(5 * time.Second)
		if n := b.Describe("q").PagedBytes; n < 1_000_000 {
			t.Errorf("%d bytes are paged out during the alarm", n)
		}
		paged := b.Describe("q").Paged
		if paged < 10 || paged > 30 {
			t.Errorf("%d messages are paged out", paged)
		}
		bubbleWeb(b).want(200, fmt.Sprintf(`{"message_bytes_paged_out":%d,"message_bytes_ram":%d,"messages_paged_out":%d,"messages_ram":%d}`, paged*100_000, (30-paged)*100_000, paged, 30-paged),
			"GET", "/api/queues/%2F/q?columns=messages_paged_out,message_bytes_paged_out,messages_ram,message_bytes_ram", "")
	})
}
