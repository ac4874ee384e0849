package broker

import (
	"bytes"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	queueactor "candlemark/actors/queue"
	"candlemark/integration/testkit"
	"candlemark/protocol"
)

// flooded is the number of messages of 1 KiB that flood publishes; atOnce is how many of them a connection may have in flight (4
// MiB).
const (
	flooded = 30_000
	atOnce  = 4 << 10
)

// flood publishes numbered messages to "q" as fast as the broker reads them; the returned channel is closed at the end.
func flood(b *testkit.Bubble) <-chan struct{} {
	w, done := openWire(b), make(chan struct{})
	go func() {
		defer close(done)
		var out []byte
		body := bytes.Repeat([]byte{'m'}, 1<<10)
		for i := range flooded {
			binary.BigEndian.PutUint32(body, uint32(i))
			out = append(out, frames(1, whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q"}, body: string(body)})...)
			if len(out) > 64<<10 {
				w.write(out)
				out = out[:0]
			}
		}
		w.write(out)
	}()
	return done
}

// TestFlow_FastConsumer: a publisher faster than the consumer is slowed down to its speed, so the backlog between them is bounded
// (ADR 60).
func TestFlow_FastConsumer(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		deliveries := ch.Subscribe("q", 100)
		flood(b)
		most := 0
		for i := range flooded {
			d := testkit.Receive(b, deliveries)
			if n := binary.BigEndian.Uint32(d.Body); n != uint32(i) {
				b.Fatalf("%d comes instead of %d", n, i)
			}
			_ = d.Ack(false)
			if i%500 == 0 {
				most = max(most, b.Describe("q").Ready)
			}
		}
		if most > atOnce+atOnce/2 {
			b.Errorf("%d messages waited", most)
		}
	})
}

// TestFlow_SlowConsumer: a very slow consumer does not slow down a publisher.
func TestFlow_SlowConsumer(t *testing.T) {
	for name, ack := range map[string]bool{"takes one and no more": false, "takes one every 10 ms": true} {
		t.Run(name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Declare("q", nil)
				deliveries := ch.Subscribe("q", 1)
				began, done, count := time.Now(), flood(b), 0
				for waiting := true; waiting; {
					select {
					case <-done:
						waiting = false
					case d := <-deliveries:
						if count++; ack {
							time.Sleep(10 * time.Millisecond)
							_ = d.Ack(false)
						}
					}
				}
				took := time.Since(began)
				most := 2 * queueactor.MaxFlowDelay * time.Millisecond
				if ack {
					most = (flooded/atOnce + 2) * queueactor.MaxFlowDelay * time.Millisecond
				}
				if synctest.Wait(); took > most {
					b.Errorf("the publisher was held up for %s", took)
				}
				if n := b.Describe("q").Ready; n < flooded-count-1 {
					b.Errorf("%d messages are there, %d were taken", n, count)
				}
			})
		})
	}
}
