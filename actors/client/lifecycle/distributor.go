package lifecycle

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/stream"
)

// Distributor is the part of a reader that is the same in both protocols: it collects runs of frames and sends them to channels or
// sessions, and reports to the connection what happens to the reader. It belongs to the reader's goroutine.
type Distributor struct {
	of      *Connection
	touched []*Child // with runs to be sent
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

// AddRun sets aside a run of whole frames of a channel or session.
func (d *Distributor) AddRun(k *Child, run []byte) {
	switch {
	case len(run) == 0:
	case k.runs.first == nil:
		k.runs.first = run
		d.touched = append(d.touched, k)
	default:
		k.runs.more = append(k.runs.more, run)
	}
}

// HasRuns reports whether runs wait to be sent.
func (d *Distributor) HasRuns() bool { return len(d.touched) > 0 }

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
