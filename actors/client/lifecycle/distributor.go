package lifecycle

import (
	"errors"

	"candlemark/actors/system/mail"
	"candlemark/internal/transport/stream"
)

// Distributor is the part of a reader that is the same in both protocols: it collects runs of frames and sends them to channels or
// sessions, and reports to the connection what happens to the reader. It belongs to the reader's goroutine.
type Distributor struct {
	of      *Connection
	touched []*Child // with runs to be sent

	// The read that is cut into runs: input[begin:at] is the current run.
	input     []byte
	begin, at int
	next      int    // size of the frame after the current run, in bytes
	current   *Child // of the current run, nil for none
}

// runs are the runs of whole frames of one channel or session that wait for the end of the read.
type runs struct {
	first []byte
	more  [][]byte
}

// oneRun is the usual Inbound, in one allocation.
type oneRun struct {
	mail.Inbound
	run [1][]byte
}

// InitReader initialises the reader, which has d.
func (l *Connection) InitReader(p stream.Protocol, d *Distributor) {
	d.of = l
	r := l.reader
	r.Protocol, r.Valve, r.Arrivals, r.Stopping, r.Again = p, l.cfg.Valve, l.Arrivals, l.Stopping, l.over
	r.Input.Gate, r.Flush, r.Carry = l.Gate, d.SendRuns, l.cfg.Carry
	r.Init(l.cfg.Conn)
}

// StartRead begins to cut the unparsed input, which it returns, into runs.
func (d *Distributor) StartRead() []byte {
	d.input, d.begin, d.at, d.current = d.of.reader.Input.Unparsed(), 0, 0, nil
	return d.input
}

// Continues reports whether the current run belongs to the channel or session with that number, which expects more input.
func (d *Distributor) Continues(id uint16) bool {
	return d.current != nil && d.current.ID == id && !d.current.Closing
}

// EndRun ends the current run before rest, which begins with a frame of n bytes; 0 if the frame is not whole.
func (d *Distributor) EndRun(rest []byte, n int) {
	d.at, d.next = len(d.input)-len(rest), n
	if d.current != nil && d.at > d.begin {
		d.add(d.current, d.input[d.begin:d.at:d.at])
	}
	d.current = nil
}

// BeginRun begins a run of k with the frame after EndRun; nil if the frame is for no channel or session. It returns err: the
// frame will be handled again if that is stream.ErrPending.
func (d *Distributor) BeginRun(k *Child, err error) error {
	if !errors.Is(err, stream.ErrPending) {
		d.begin, d.current = d.at, k
		d.Skip()
	}
	return err
}

// Skip skips the frame after EndRun.
func (d *Distributor) Skip() { d.at += d.next }

// EndRead consumes the input before the last EndRun, and the frame after it if that was skipped or began a run, and hands on the
// runs.
func (d *Distributor) EndRead() {
	d.of.reader.Input.Consume(d.at)
	d.input, d.current = nil, nil
	d.of.reader.HandOn(len(d.touched) > 0)
}

// SendRuns sends every channel or session its runs.
func (d *Distributor) SendRuns() {
	if len(d.touched) == 0 {
		return
	}
	d.of.PostMu.Lock()
	defer d.of.PostMu.Unlock()
	chunk, stopping := d.of.reader.Input.Chunk, IsClosed(d.of.Stopping)
	for i, k := range d.touched {
		if !stopping {
			m := k.runs.inbound()
			m.Chunk = chunk
			chunk.Retain()
			d.of.Root.Send(k.PID, m)
		}
		k.runs.first = nil
		clear(k.runs.more)
		k.runs.more = k.runs.more[:0]
		d.touched[i] = nil
	}
	d.touched = d.touched[:0]
}

// add sets aside a run for k.
func (d *Distributor) add(k *Child, run []byte) {
	if k.runs.first != nil {
		k.runs.more = append(k.runs.more, run)
		return
	}
	k.runs.first = run
	d.touched = append(d.touched, k)
}

// inbound returns the mail with the runs.
func (r *runs) inbound() *mail.Inbound {
	if len(r.more) > 0 {
		return &mail.Inbound{Runs: append(append(make([][]byte, 0, 1+len(r.more)), r.first), r.more...)}
	}
	m := &oneRun{run: [1][]byte{r.first}}
	m.Runs = m.run[:]
	return &m.Inbound
}

// Lost implements stream.Protocol.
func (d *Distributor) Lost(err error) { d.of.PostLost(err) }

// HeldUp implements stream.Protocol: the reader has met a publish during an alarm and has stopped reading.
func (d *Distributor) HeldUp() { d.of.Post(&heldUp{}) }

// Recovered implements stream.Protocol.
func (d *Distributor) Recovered(reason any) { d.of.Recovered("reader", reason) }
