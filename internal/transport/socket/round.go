package socket

import (
	"errors"
	"runtime"
)

// ErrNotNow is the error of a read that would have to wait.
var ErrNotNow = errors.New("nothing has come")

// Client is called by the loop while its connection listens, by one goroutine. It must not block.
type Client interface {
	// Fill reads once with TryRead and returns the number of bytes, 0 if there were none or it has called Pause.
	Fill() int
	// Handle hands on the input of Fill. It is called before the next Fill, but perhaps after the Fills of other
	// clients.
	Handle()
}

// Much is the size of a read, bytes, from which more input is expected: the loop then leaves the work to other
// goroutines and continues to read.
const Much = 4 << 10

// batch is the number of connections filled before the first of them is handled.
const batch = 64

// loopsFor returns the number of loops for a number of processors.
func loopsFor(processors int) int { return max(1, processors/2) }

// round is one turn of a loop: small reads of all connections come first and are then handled; a large read is
// handled at once.
func round(ready []Client, carry func(post func())) {
	filled, much := ready[:0], false
	for _, c := range ready {
		switch n := c.Fill(); {
		case n >= Much:
			c.Handle()
			much = true
		case n > 0:
			filled = append(filled, c)
		}
	}
	handle := func() {
		for _, c := range filled {
			c.Handle()
		}
	}
	switch {
	case much:
		handle()
		runtime.Gosched() // let woken goroutines use this processor before the wait, which would keep it for a while
	case len(filled) > 0:
		carry(handle)
	}
	clear(ready)
}
