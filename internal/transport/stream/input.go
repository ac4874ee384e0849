package stream

import (
	"net"
	"sync/atomic"

	"candlemark/internal/routing/message"
)

// The size of reads in bytes: small while the connection is idle, larger once reads fill their room.
const (
	minRead = 2 << 10
	MaxRead = 128 << 10
)

// Input reads the socket into chunks. The parsed part of a chunk is never
// written again; several reads share a chunk as long as it has room.
//
//	Chunk.Buf: │ parsed, perhaps still in use │ start: not parsed yet │ end: free │
type Input struct {
	Conn   net.Conn
	Gate   *message.Gate
	Reads  atomic.Uint32 // reads that returned bytes
	Octets atomic.Uint64 // bytes read

	Chunk      *message.Chunk // nil before the first read
	Last       int            // bytes of the last read
	start, end int
	size       int  // room of a read into a new chunk, bytes
	shrunk     bool // size is less than when Chunk was made
}

// Unparsed returns the bytes that were read and not consumed.
func (in *Input) Unparsed() []byte {
	if in.Chunk == nil {
		return nil
	}
	return in.Chunk.Buf[in.start:in.end]
}

// Consume marks the first n unparsed bytes as parsed.
func (in *Input) Consume(n int) { in.start += n }

// Fill reads once, and blocks until there is something. want is the total size of the frame at start, 0 if unknown.
func (in *Input) Fill(want int) error {
	free := in.Room(want)
	n, err := in.Conn.Read(free)
	if n == 0 {
		return err
	}
	in.Took(n, len(free))
	return nil
}

// Took counts the n bytes of a read into a buffer of size room.
func (in *Input) Took(n, room int) {
	in.end += n
	in.Last = n
	in.Reads.Add(1)
	in.Octets.Add(uint64(n))
	switch {
	case n == room:
		in.size = min(2*in.size, MaxRead)
	case n < in.size/8 && in.size > minRead:
		in.size /= 2
		in.shrunk = true
	}
}

// Room returns the memory for a read; want is as in Fill.
func (in *Input) Room(want int) []byte {
	in.makeRoom(want)
	return in.Chunk.Buf[in.end:]
}

// makeRoom takes another chunk when the current one has no room for the whole frame at start, or too little for a
// worthwhile read.
func (in *Input) makeRoom(want int) {
	left := len(in.Unparsed())
	if in.Chunk != nil && !(in.shrunk && left == 0) {
		free := len(in.Chunk.Buf) - in.end
		if free >= want-left && free >= in.size/4 {
			return
		}
	}
	in.size = max(in.size, minRead)
	next := in.Gate.NewChunk(max(left+in.size, want))
	copy(next.Buf, in.Unparsed())
	in.Close()
	in.Chunk, in.start, in.end, in.shrunk = next, 0, left, false
}

// Close releases the reader's own reference.
func (in *Input) Close() {
	in.Chunk.Release()
	in.Chunk, in.start, in.end = nil, 0, 0
}
