package wire

import (
	"bytes"
	"io"
	"testing"

	"candlemark/protocol"
)

// deliveries returns a stream of n deliveries of 100 bytes.
func deliveries(n int) (stream []byte) {
	for i := range n {
		stream = protocol.AppendDeliverFrame(stream, 1, "c", uint64(i+1), false, nil, []byte("bench.q"))
		stream = protocol.AppendHeaderFrame(stream, 1, 100, []byte{0, 0})
		stream = protocol.AppendBodyFrames(stream, 1, make([]byte, 100), 0)
	}
	return stream
}

// endless repeats a stream forever.
type endless struct {
	all []byte
	bytes.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF {
		e.Reset(e.all)
		return e.Reader.Read(p)
	}
	return n, err
}

// BenchmarkNext reads a delivery from bytes.
func BenchmarkNext(b *testing.B) {
	c := &Conn{in: NewInput(&endless{all: deliveries(1000)}, 256<<10)}
	var ev Event
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Next(&ev); err != nil || ev.Kind != Deliver {
			b.Fatal(ev.Kind, err)
		}
	}
}

// BenchmarkBatch encodes a message of a batch.
func BenchmarkBatch(b *testing.B) {
	batch := (&Conn{}).Batch(64, &Publish{Channel: 1, Key: "bench.q", Body: make([]byte, 100)})
	b.ReportAllocs()
	for b.Loop() {
		for i := range 64 {
			batch.Body(i, 40)[0] = 1
		}
		_ = batch.Bytes(64)
	}
}
