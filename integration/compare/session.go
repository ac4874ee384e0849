package main

import (
	"bufio"
	"io"
	"net"

	"candlemark/protocol"
)

// session is one connection of a script.
type session struct {
	id     int
	socket net.Conn
	frames uint32 // largest frame in bytes

	byHand      bool // dialled by the script: nothing is opened by itself
	holdCloseOk bool // leave channel.close unanswered
	rough       bool // raw bytes were sent: channels are not asked for signs of life
	closing     bool // connection.close was seen or sent
	over        bool // the socket has ended
	beating     bool // the last thing on channel 0 was a heartbeat

	channels map[uint16]*line
}

// line is a channel of a session as the client sees it.
type line struct {
	open      bool
	closing   bool      // the client has sent channel.close
	fences    int       // channel.flow-ok that must come and are not shown
	delivery  *delivery // content that is on its way
	confirmed map[uint64]bool
}

// delivery is a method with content, of which more is to come.
type delivery struct {
	method protocol.Method
	header string
	size   uint64
	body   []byte
	pieces []int // bytes of each body frame
	opened bool  // the header has come
}

// event came off a socket: a frame, a protocol header, or its end.
type event struct {
	session *session
	frame   protocol.Frame
	header  []byte
	err     error
}

// read turns the socket into events until it ends or done is closed.
func (c *session) read(events chan<- event, done <-chan struct{}) {
	in := bufio.NewReaderSize(c.socket, 64<<10)
	for {
		e := event{session: c}
		e.frame, e.header, e.err = readFrame(in)
		select {
		case events <- e:
		case <-done:
			return
		}
		if e.err != nil {
			return
		}
	}
}

// readFrame reads a frame, or the protocol header that a server sends in its place.
func readFrame(in *bufio.Reader) (f protocol.Frame, header []byte, err error) {
	first, err := in.Peek(1)
	if err != nil {
		return f, nil, err
	}
	if first[0] == 'A' {
		header = make([]byte, 8)
		n, err := io.ReadFull(in, header)
		return f, header[:n], ignoreShort(err, n)
	}
	buf := make([]byte, 7)
	if _, err := io.ReadFull(in, buf); err != nil {
		return f, nil, err
	}
	_, _, need, err := protocol.ParseFrame(append(buf, 0), 0)
	if err != nil {
		return f, nil, err
	}
	whole := make([]byte, max(need, protocol.FrameOverhead))
	copy(whole, buf)
	if _, err := io.ReadFull(in, whole[7:]); err != nil {
		return f, nil, err
	}
	f, _, _, err = protocol.ParseFrame(whole, 0)
	return f, nil, err
}

// ignoreShort lets a short header be seen before the end.
func ignoreShort(err error, n int) error {
	if n > 0 {
		return nil
	}
	return err
}

// at returns the client's side of a channel.
func (c *session) at(ch uint16) *line {
	l := c.channels[ch]
	if l == nil {
		l = &line{}
		c.channels[ch] = l
	}
	return l
}
