package integration

import (
	number "encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"candlemark/protocol"
)

// The flood: transient messages of four times the watermark. They are so small that even the part that stays in memory after
// paging exceeds it.
const (
	watermark     = 100_000_000
	floodMargin   = 64_000_000 // by which memory may exceed the watermark (docs/alarms.md)
	flooders      = 4
	floodBody     = 500
	floodMessages = 4 * watermark / floodBody / flooders // per flooder
	floodBatch    = 250
)

// flooder publishes as fast as the broker reads, and records notifications of alarms.
type flooder struct {
	*rawClient
	id      uint32
	blocked chan string // reasons of alarms, "" for the end of one
	done    chan error
}

func (b *broker) flooder(t *testing.T, id int) *flooder {
	f := &flooder{rawClient: b.connectRaw(t), id: uint32(id), blocked: make(chan string, 1000), done: make(chan error, 1)}
	f.login(0)
	f.open(1)
	f.must(f.SetDeadline(time.Time{}))
	go f.listen()
	return f
}

func (f *flooder) listen() {
	defer close(f.blocked)
	for {
		frame, err := f.next()
		if err != nil {
			return
		}
		switch m, _ := protocol.DecodeMethod(frame.Payload); m := m.(type) {
		case *protocol.ConnectionBlocked:
			f.blocked <- m.Reason
		case *protocol.ConnectionUnblocked:
			f.blocked <- ""
		default:
			f.blocked <- fmt.Sprintf("%+v", m)
		}
	}
}

// flood publishes floodMessages numbered messages.
func (f *flooder) flood(queue string) {
	var batch []byte
	var numbers []int // offsets of the numbers in the batch
	for range floodBatch {
		batch = protocol.AppendMethodFrame(batch, 1, &protocol.BasicPublish{RoutingKey: queue})
		batch = protocol.AppendHeaderFrame(batch, 1, floodBody, (&protocol.Properties{}).Append(nil))
		numbers = append(numbers, len(batch)+7)
		batch = protocol.AppendBodyFrames(batch, 1, make([]byte, floodBody), 0)
	}
	for n := uint32(0); n < floodMessages; n += floodBatch {
		for i, at := range numbers {
			number.BigEndian.PutUint32(batch[at:], f.id)
			number.BigEndian.PutUint32(batch[at+4:], n+uint32(i))
		}
		if _, err := f.Write(batch); err != nil {
			f.done <- err
			return
		}
	}
	f.done <- nil
}

// memory returns the resident memory of the process without mapped files.
func (b *broker) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", b.cmd.Process.Pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return 0
	}
	all, _ := strconv.ParseInt(fields[1], 10, 64)
	files, _ := strconv.ParseInt(fields[2], 10, 64)
	return (all - files) * int64(os.Getpagesize())
}

// watchMemory returns a function that stops the measurement and returns the peak of memory since the call.
func (b *broker) watchMemory() (most func() int64) {
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		every := time.NewTicker(2 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				most = max(most, b.memory())
			case <-stop:
				peak <- most
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-peak
	}
}

// drain consumes a queue until all published messages have been delivered, in order.
func (b *broker) drain(queue string) {
	i := b.connectRaw(b.T)
	i.login(0)
	i.open(1)
	i.say(method(1, &protocol.BasicConsume{Queue: queue, NoAck: true, NoWait: true}))
	next := make([]uint32, flooders)
	for left := flooders * floodMessages; left > 0; {
		f, err := i.next()
		i.must(err)
		if f.Type != protocol.FrameBody {
			continue
		}
		left--
		from, n := number.BigEndian.Uint32(f.Payload), number.BigEndian.Uint32(f.Payload[4:])
		if next[from] != n {
			b.Fatalf("message %d of %d came in place of %d", n, from, next[from])
		}
		next[from]++
		if n%1000 == 0 {
			i.must(i.SetDeadline(time.Now().Add(patience)))
		}
	}
	i.say(method(0, &protocol.ConnectionClose{ReplyCode: 200}))
}

// TestFloodToFourTimesTheWatermark: under a flood of transient messages, publishers are blocked, memory stays bounded, and
// consumers and all other clients are served. When consumers have drained the queue, publishers are unblocked. No message is
// lost.
func TestFloodToFourTimesTheWatermark(t *testing.T) {
	if racing {
		t.Skip("the race detector multiplies memory")
	}
	t.Parallel()
	b := start(t, "--memory-high-watermark", strconv.Itoa(watermark))
	c := b.dial()
	c.must(func() error { _, err := c.QueueDeclare("flood", false, false, false, false, nil); return err }())
	b.verb(0, "check_alarms")
	most := b.watchMemory()
	var all []*flooder
	for id := range flooders {
		f := b.flooder(t, id)
		all = append(all, f)
		go f.flood("flood")
	}
	for _, f := range all {
		if reason := <-f.blocked; reason != "low on memory" {
			t.Fatalf("publisher %d was blocked with reason %q", f.id, reason)
		}
	}
	// Paging ends an alarm until the publishers have raised the next one.
	eventually(t, "the check of alarms fails", func() bool {
		status, text := b.ask("GET", "/api/health/checks/alarms", "")
		return status == 503 && strings.Contains(string(text), `"resource":"memory"`)
	})
	eventually(t, "the check of alarms fails on the command line", func() bool {
		code, _ := b.exit("check_alarms")
		return code == 69
	})
	b.request("POST", "/api/exchanges/%2F/amq.default/publish", `{"routing_key":"none","payload":"","payload_encoding":"string","properties":{}}`, 200)
	m, ok, err := c.Get("flood", false)
	if err != nil || !ok || len(m.Body) != floodBody {
		t.Fatalf("get during an alarm: %v %v", ok, err)
	}
	c.must(m.Nack(false, true))
	b.drain("flood")
	if n := most(); n > watermark+floodMargin {
		t.Errorf("memory came to %d bytes at a watermark of %d", n, watermark)
	} else {
		t.Logf("memory came to %d bytes at a watermark of %d", n, watermark)
	}
	for _, f := range all {
		f.must(<-f.done)
		news := "low on memory"
		for news != "" { // the publisher may have been blocked many times
			news = <-f.blocked
		}
	}
	eventually(t, "the end of the alarm", func() bool {
		return strings.Contains(b.request("GET", "/api/nodes", "", 200), `"mem_alarm":false`)
	})
	b.verb(0, "check_alarms")
	c.send("flood", "after")
	c.holds("flood", "after")
}

// TestDiskFreeLimit: free disk space below the configured limit raises an alarm in the same way.
func TestDiskFreeLimit(t *testing.T) {
	t.Parallel()
	b := start(t, "--disk-free-limit", "1000000GB")
	b.verb(69, "check_local_alarms")
	f := b.flooder(t, 0)
	f.say(method(1, &protocol.QueueDeclare{Queue: "q", NoWait: true}))
	go f.flood("q")
	if reason := <-f.blocked; reason != "low on disk" {
		t.Fatalf("blocked with reason %q", reason)
	}
	b.verb(0, "set_vm_memory_high_watermark", "0")
	if out := b.verb(0, "-q", "alarms"); strings.Count(out, "\n") != 2 {
		t.Errorf("%s", out)
	}
	b.verb(0, "set_disk_free_limit", "0")
	if out := b.verb(0, "-q", "alarms"); !strings.HasPrefix(out, "Memory alarm on node ") {
		t.Errorf("%s", out)
	}
	b.verb(0, "set_vm_memory_high_watermark", "0.9")
	if reason := <-f.blocked; reason != "" {
		t.Fatalf("blocked with reason %q", reason)
	}
	f.must(<-f.done)
}
