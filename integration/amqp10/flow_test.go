package amqp10

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/config"
	"candlemark/protocol/amqp10"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	"github.com/Azure/go-amqp"
)

// meter is a machine with a settable number of bytes of free disk.
type meter struct{ free atomic.Int64 }

func (m *meter) Memory() int64       { return 1 << 20 }
func (m *meter) Total() int64        { return 1 << 30 }
func (m *meter) Disk() (int64, bool) { return m.free.Load(), true }
func (m *meter) Reserved() int64     { return 0 }

func (m *meter) Collections() uint64 { return 0 }
func (m *meter) Collect()            {}
func (m *meter) Release()            {}
func (m *meter) Bound(int64)         {}

// alarming runs test on a broker whose disk the test can fill and free.
func alarming(t *testing.T, test func(b *testkit.Bubble, full func(bool))) {
	m := &meter{}
	m.free.Store(1 << 40)
	testkit.Run(t, func(cfg *supervision.Config) {
		cfg.Alarms = resources.Config{Meter: m, Watermark: config.Share(0.5), DiskFree: config.Amount{Bytes: 1 << 30}}
	}, func(b *testkit.Bubble) {
		b.Advance(2 * time.Second)
		b.Connect().Open().Declare("q", nil)
		test(b, func(full bool) {
			if m.free.Store(1 << 40); full {
				m.free.Store(0)
			}
			b.Advance(12 * time.Second) // the disk alarm ends 10 s after its cause, and clients have 15 s to read
		})
	})
}

// A publishing client waits until an alarm is over, and can receive and settle on the same connection during the alarm.
func TestAlarm(t *testing.T) {
	alarming(t, func(b *testkit.Bubble, full func(bool)) {
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
		c.put(s, "1", "2")
		full(true)
		sent := make(chan error, 1)
		go func() { sent <- s.Send(context.Background(), amqp.NewMessage([]byte("3")), nil) }()
		c.want(r, "1", "2")
		testkit.Silent(b, sent, time.Minute)
		if i := b.Describe("q"); i.Ready != 0 || i.Unacked != 0 {
			t.Errorf("%d ready, %d unacked", i.Ready, i.Unacked)
		}
		full(false)
		if err := testkit.Receive(b, sent); err != nil {
			t.Error(err)
		}
		c.want(r, "3")
	})
}

// During an alarm the windows of sessions are closed, also of sessions that begin during it. Messages in flight are accepted up
// to the grace of the connection, and no more, for any windows that the client assumes.
func TestAlarm_Window(t *testing.T) {
	alarming(t, func(b *testkit.Bubble, full func(bool)) {
		x := openRaw(b, opening())
		flow := func(want uint32) {
			t.Helper()
			if f, ok := x.want(amqp10.CodeFlow).(*amqp10.Flow); !ok || f.Handle.Set || f.IncomingWindow != want {
				t.Fatalf("%+v", f)
			}
		}
		x.send(1, beginning(), sending(0, "q"))
		x.want(amqp10.CodeFlow) // the flow with the link credit
		full(true)
		flow(0)
		x.send(2, beginning())
		flow(0)
		body := append([]byte{0, 0x53, 0x75, 0xb0, 0, 0, 0x80, 0}, make([]byte, 32<<10)...)
		const count = 20
		go func() {
			for id := range uint32(count) {
				if _, err := x.Write(transferFrame(0, id, false, body)); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if i := b.Describe("q"); i.Ready < 8 || i.Ready > 12 {
			t.Errorf("%d messages of 32 KiB were accepted", i.Ready)
		}
		full(false)
		flow(2048)
		synctest.Wait()
		if i := b.Describe("q"); i.Ready != count {
			t.Errorf("%d messages", i.Ready)
		}
		_ = x.Close()
	})
}

// A client gets no more transfers than its window permits, not even parts of one message, and the rest when it opens the window
// again.
func TestWindow(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		body := string(bytes.Repeat([]byte("0123456789"), 300))
		ch.Send("", "q", testkit.Text(body))
		ch.Send("", "q", testkit.Text("small"))
		x := openRaw(b, &amqp10.Open{ContainerID: "c", MaxFrameSize: 512, ChannelMax: 10})
		begin := beginning()
		begin.IncomingWindow = 3
		x.send(1, begin)
		x.want(amqp10.CodeBegin)
		x.send(1, receiving(0, "q"), &amqp10.Flow{IncomingWindow: 3, Handle: amqp10.Some(uint32(0)), DeliveryCount: amqp10.Some(uint32(0)), LinkCredit: amqp10.Some(uint32(10))})
		var message []byte
		transfers, messages := 0, 0
		for messages < 2 {
			for range 3 {
				f := x.transfer()
				var tr amqp10.Transfer
				payload, err := amqp10.DecodeInto(f.Body, &tr)
				if err != nil {
					t.Fatal(err)
				}
				message = append(message, payload...)
				if transfers++; !tr.More {
					messages++
				}
				if messages == 2 {
					break
				}
			}
			_ = x.SetReadDeadline(time.Now().Add(time.Second))
			if n, _ := x.Read(make([]byte, 1)); n > 0 || len(x.in) > 0 {
				t.Fatalf("more than the window after %d transfers", transfers)
			}
			x.send(1, &amqp10.Flow{NextIncomingID: amqp10.Some(uint32(transfers)), IncomingWindow: 3})
		}
		if !bytes.Contains(message, []byte(body)) || !bytes.HasSuffix(message, []byte("small")) {
			t.Errorf("%q", message)
		}
	})
}

// The flow that answers an echo is sent after the deliveries and has the number of ready messages; so has the answer to a drain.
func TestAvailable(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		for range 4 {
			ch.Send("", "q", testkit.Text("m"))
		}
		synctest.Wait() // until the messages are in the queue
		x := openRaw(b, &amqp10.Open{ContainerID: "c", MaxFrameSize: 512, ChannelMax: 10})
		x.send(1, beginning())
		x.want(amqp10.CodeBegin)
		flow := &amqp10.Flow{IncomingWindow: 100, Handle: amqp10.Some(uint32(0)), DeliveryCount: amqp10.Some(uint32(0)), LinkCredit: amqp10.Some(uint32(1)), Echo: true}
		x.send(1, receiving(0, "q"), flow)
		for _, want := range []uint32{3, 0} {
			x.transfer()
			if got := x.want(amqp10.CodeFlow).(*amqp10.Flow); got.Available.Or(9) != want || got.Drain != (want == 0) {
				t.Errorf("%+v, want %d", got, want)
			}
			drain := *flow
			drain.DeliveryCount, drain.LinkCredit, drain.Drain = amqp10.Some(uint32(1)), amqp10.Some(uint32(9)), true
			x.send(1, &drain)
			if want > 0 {
				x.transfer()
				x.transfer()
			}
		}
	})
}

// transfer returns the next transfer frame.
func (r *raw) transfer() amqp10.Frame {
	r.Helper()
	for {
		f, err := r.frame()
		if err != nil {
			r.Fatal("transfer:", err)
		}
		if code, _ := f.Code(); code == amqp10.CodeTransfer {
			return f
		}
	}
}

// A message that is too large for the receiver ends the session, as in RabbitMQ, and is requeued.
func TestMaxMessageSize_Receiver(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		s := c.sender("/queues/q", nil)
		c.put(s, "small", strings.Repeat("x", 2001), "behind it")
		own := &client{T: t, b: b, conn: c.conn, session: c.begin()}
		r := own.receiver("/queues/q", &amqp.ReceiverOptions{MaxMessageSize: 2000, Credit: 1})
		own.want(r, "small")
		_, err := r.Receive(context.Background(), nil)
		if condition(err) != amqp.ErrCondMessageSizeExceeded {
			t.Fatalf("%v", err)
		}
		synctest.Wait() // until it is requeued
		c.want(c.receiver("/queues/q", nil), strings.Repeat("x", 2001), "behind it")
	})
}
