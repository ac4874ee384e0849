package broker

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol"
)

// begun returns a publish to queue q, of whose body only some bytes are sent.
func begun(size, come int) []byte {
	b := protocol.AppendMethodFrame(nil, 1, &protocol.BasicPublish{RoutingKey: "q"})
	b = protocol.AppendHeaderFrame(b, 1, uint64(size), []byte{0, 0})
	return append(b, bodyOf(come)...)
}

func bodyOf(bytes int) []byte { return protocol.AppendBodyFrames(nil, 1, make([]byte, bytes), 131072) }

// background writes without waiting for the broker to read.
func (w *wire) background(b []byte) { go w.write(b) }

const evicted = "connection 506 0/0 RESOURCE_ERROR - a message or transaction was not completed in time while memory was short"

// A connection that is in the middle of a message when an alarm begins may complete it, and is not read after that. A message
// begun during the alarm takes no memory.
func TestBegun_EndsDuringAnAlarm(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		reader := b.Connect().Open()
		reader.Declare("q", nil)
		taken := reader.Tail("q")
		w, late := openWire(b), openWire(b)
		defer w.conn.Close()
		defer late.conn.Close()
		w.say(&protocol.ConfirmSelect{}, begun(8<<20, 4<<20))
		m.set(501, 1000)
		b.Advance(time.Second)
		late.background(begun(8<<20, 8<<20))
		go func() {
			w.write(bodyOf(4 << 20))
			for range 300 {
				w.write(begun(100_000, 100_000))
			}
		}()
		if d := testkit.Receive(b, taken); len(d.Body) != 8<<20 {
			t.Errorf("%d bytes", len(d.Body))
		}
		during := 0
		for ok := true; ok; {
			if _, ok = testkit.TryReceive(taken, time.Minute); ok {
				during++
			}
		}
		if during > 10<<20/100_000 { // number of messages that may be read before the end is noticed
			t.Errorf("%d messages were taken during an alarm", during)
		}
		t.Logf("%d of 300 messages were taken during an alarm", during)
		b.Advance(10 * time.Minute) // no connection is evicted
		m.set(100, 1000)
		for range 301 - during {
			testkit.Receive(b, taken)
		}
		if heard := w.take() + late.take(); !strings.Contains(heard, "basic.ack 1") || strings.Contains(heard, "connection") {
			t.Errorf("%q", heard)
		}
	})
}

// A connection that holds memory with an unfinished message or transaction during an alarm is closed within about a minute. Other
// connections stay open.
func TestBegun_EvictedDuringAnAlarm(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		b.Log.Allow("")
		reader := b.Connect().Open()
		reader.Declare("q", nil)
		taken := reader.Tail("q")
		w, transaction, quiet := openWire(b), openWire(b), openWire(b)
		for _, w := range []*wire{w, transaction, quiet} {
			defer w.conn.Close()
		}
		w.say(begun(8<<20, 4<<20))
		transaction.say(&protocol.TxSelect{}, whole{protocol.BasicPublish{RoutingKey: "q"}, protocol.Properties{}, "body"})
		b.Advance(time.Hour) // their memory is not needed
		if heard := w.take() + transaction.take(); heard != "tx.select-ok" {
			t.Fatal(heard)
		}
		m.set(501, 1000)
		b.Advance(time.Second)
		quiet.background(append(begun(3, 3), begun(100_000, 50_000)...))
		testkit.Receive(b, taken)
		b.Advance(28 * time.Second)
		if heard := w.take() + transaction.take() + quiet.take(); heard != "" {
			t.Error(heard)
		}
		b.Advance(35 * time.Second)
		for _, w := range []*wire{w, transaction} {
			if heard := w.take(); !strings.HasPrefix(heard, evicted) {
				t.Error(heard)
			}
		}
		testkit.Silent(b, taken, time.Hour)
		m.set(100, 1000)
		b.Advance(10 * time.Second)
		quiet.background(bodyOf(50_000))
		if d := testkit.Receive(b, taken); len(d.Body) != 100_000 {
			t.Errorf("%d bytes", len(d.Body))
		}
	})
}

// An unfinished message does not exempt a connection from an alarm: it may publish no more on other channels than the length of
// the message.
func TestBegun_NoWayRoundAnAlarm(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		b.Log.Allow("")
		reader := b.Connect().Open()
		reader.Declare("q", nil)
		w := openWire(b)
		defer w.conn.Close()
		w.say(on{2, &protocol.ChannelOpen{}}, begun(1<<20, 1000))
		m.set(501, 1000)
		b.Advance(time.Second)
		const each = 10_000
		go func() {
			for range 10_000_000 / each {
				w.write(frames(2, whole{protocol.BasicPublish{RoutingKey: "q"}, protocol.Properties{}, strings.Repeat("b", each)}))
			}
		}()
		b.Advance(10 * time.Second)
		n := b.Describe("q").Ready
		if n*each < 1<<20 || n*each > 2<<20 {
			t.Errorf("%d messages of %d bytes were taken during an alarm", n, each)
		}
		b.Advance(time.Minute)
		if !strings.Contains(w.take(), evicted) || b.Describe("q").Ready != n {
			t.Error("it goes on")
		}
	})
}

// Without an alarm, incomplete contents share an eighth of the watermark. A connection waits at most about a minute for contents
// that make no progress.
func TestBegun_NobodyKeepsOthersOut(t *testing.T) {
	metered(t, func(b *testkit.Bubble, _ *meter) {
		b.Log.Allow("")
		reader := b.Connect().Open()
		reader.Declare("q", nil)
		taken := reader.Tail("q")
		const size = 16 << 20
		var stalled []*wire
		for range 3 {
			w := openWire(b)
			defer w.conn.Close()
			w.say(begun(size, size-1))
			stalled = append(stalled, w)
		}
		b.Advance(time.Hour)
		honest := openWire(b)
		defer honest.conn.Close()
		honest.background(begun(size, size))
		small := openWire(b)
		defer small.conn.Close()
		small.say(begun(60_000, 30_000), bodyOf(30_000))
		if d := testkit.Receive(b, taken); len(d.Body) != 60_000 {
			t.Errorf("%d bytes", len(d.Body))
		}
		testkit.Silent(b, taken, 29*time.Second)
		for _, w := range stalled {
			if heard := w.take(); heard != "" {
				t.Error(heard)
			}
		}
		b.Advance(32 * time.Second)
		if d := testkit.Receive(b, taken); len(d.Body) != size {
			t.Errorf("%d bytes", len(d.Body))
		}
		for _, w := range stalled {
			if heard := w.take(); !strings.HasPrefix(heard, evicted) {
				t.Error(heard)
			}
		}
	})
}

// Other traffic of a connection does not preserve its share: each content has to make progress.
func TestBegun_OtherTrafficKeepsNobodyOut(t *testing.T) {
	metered(t, func(b *testkit.Bubble, _ *meter) {
		b.Log.Allow("")
		reader := b.Connect().Open()
		reader.Declare("q", nil)
		taken := reader.Tail("q")
		const size = 16 << 20
		var busy []*wire
		for range 3 {
			w := openWire(b)
			defer w.conn.Close()
			w.say(begun(size, 1000), on{2, &protocol.ChannelOpen{}})
			busy = append(busy, w)
		}
		honest := openWire(b)
		defer honest.conn.Close()
		honest.background(begun(size, size))
		other := frames(2, whole{protocol.BasicPublish{RoutingKey: "nowhere"}, protocol.Properties{}, strings.Repeat("b", 30_000)})
		other = bytes.Repeat(other, 4)
		for range 65 {
			for _, w := range busy {
				w.background(other)
			}
			b.Advance(time.Second)
		}
		if d := testkit.Receive(b, taken); len(d.Body) != size {
			t.Errorf("%d bytes", len(d.Body))
		}
		for _, w := range busy {
			if heard := w.take(); !strings.Contains(heard, evicted) {
				t.Error(heard)
			}
		}
	})
}
