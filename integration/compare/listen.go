package main

import (
	"fmt"
	"slices"
	"time"

	"candlemark/protocol"
)

// wait listens until a method with a fitting name has come on the channel, or the channel or connection is gone.
func (p *player) wait(c *session, ch uint16, fits func(name string) bool) {
	deadline := time.After(p.patient)
	for {
		select {
		case e := <-p.events:
			name := p.take(e)
			if e.session != c {
				continue
			}
			if c.over || e.frame.Channel == ch && (fits(name) || name == "channel.close") {
				return
			}
			if name == "connection.close" {
				ch, fits = 0, func(string) bool { return false } // only the end can come now
			}
		case <-deadline:
			p.seen.saw(c.id, ch, noAnswer)
			return
		}
	}
}

// listen takes events for a while.
func (p *player) listen(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case e := <-p.events:
			p.take(e)
		case <-end:
			return
		}
	}
}

// settle asks every channel for a sign of life and then waits for silence.
func (p *player) settle() {
	waiting := 0
	for _, c := range p.sessions {
		if c.over || c.byHand || c.rough || c.closing {
			continue
		}
		for ch, l := range c.channels {
			if l.open && !l.closing && ch > 0 {
				p.writeMethod(c, ch, &protocol.ChannelFlow{Active: true})
				l.fences++
				waiting++
			}
		}
	}
	deadline := time.After(p.patient)
	for p.fenced() {
		select {
		case e := <-p.events:
			p.take(e)
		case <-deadline:
			p.seen.saw(0, 0, "(a channel does not answer channel.flow)")
			p.forgetFences()
		}
	}
	silence := time.NewTimer(p.quiet)
	for {
		select {
		case e := <-p.events:
			p.take(e)
			silence.Reset(p.quiet)
		case <-silence.C:
			return
		}
	}
}

// fenced reports whether a channel that can still answer owes one.
func (p *player) fenced() bool {
	for _, c := range p.sessions {
		for _, l := range c.channels {
			if l.fences > 0 && l.open && !c.over && !c.closing {
				return true
			}
		}
	}
	return false
}

func (p *player) forgetFences() {
	for _, c := range p.sessions {
		for _, l := range c.channels {
			l.fences = 0
		}
	}
}

// take records an event, answers it if necessary, and returns the method's name.
func (p *player) take(e event) string {
	c := e.session
	known := p.sessions[c.id] == c
	switch {
	case c.over || !known:
		return ""
	case e.err != nil:
		c.over = true
		_ = c.socket.Close()
		p.seen.saw(c.id, 0, endOfConnection)
		return ""
	case e.header != nil:
		p.seen.saw(c.id, 0, fmt.Sprintf("(protocol header %q)", e.header))
		return ""
	}
	f := e.frame
	beat := f.Type == protocol.FrameHeartbeat
	if beat {
		if !c.beating {
			p.seen.saw(c.id, f.Channel, "(heartbeat)")
		}
		c.beating = true
		return ""
	}
	c.beating = false
	if f.Type != protocol.FrameMethod {
		p.content(c, f)
		return ""
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		p.seen.saw(c.id, f.Channel, fmt.Sprintf("(method that cannot be read: % x)", f.Payload))
		return ""
	}
	p.method(c, f.Channel, m)
	return m.Key().String()
}

// method writes a method down and keeps the state of its channel.
func (p *player) method(c *session, ch uint16, m protocol.Method) {
	l := c.at(ch)
	switch m := m.(type) {
	case *protocol.ConnectionStart:
		if p.recordStart {
			capable, rest := describeStart(m)
			p.saw(c, ch, capable)
			p.saw(c, ch, rest)
		} else {
			p.saw(c, ch, m.Key().String())
		}
		return
	case *protocol.ChannelFlowOk:
		if l.fences > 0 {
			l.fences--
			return
		}
	case *protocol.ChannelOpenOk:
		if !l.open { // opened by the player
			l.open, l.closing, l.confirmed, l.fences = true, false, nil, 0
			return
		}
	case *protocol.ChannelClose:
		l.closing = true
		if !c.holdCloseOk {
			l.open, l.closing = false, false
			p.writeMethod(c, ch, &protocol.ChannelCloseOk{})
		}
	case *protocol.ChannelCloseOk:
		l.open, l.closing = false, false
	case *protocol.ConnectionClose:
		c.closing = true
		p.saw(c, ch, describe(m))
		p.writeMethod(c, 0, &protocol.ConnectionCloseOk{})
		return
	case *protocol.ConnectionCloseOk: // as clients should; which side disconnects first does not matter
		c.over = true
		_ = c.socket.Close()
	case *protocol.BasicDeliver, *protocol.BasicGetOk, *protocol.BasicReturn:
		l.delivery = &delivery{method: m}
		return
	case *protocol.BasicAck:
		p.confirm(c, ch, "ack", m.DeliveryTag, m.Multiple)
		return
	case *protocol.BasicNack:
		p.confirm(c, ch, "nack", m.DeliveryTag, m.Multiple)
		return
	}
	p.saw(c, ch, describe(m))
}

// confirm writes one line for each publish that is settled: how they are put together is a matter of timing.
func (p *player) confirm(c *session, ch uint16, verb string, tag uint64, multiple bool) {
	l := c.at(ch)
	if l.confirmed == nil {
		p.saw(c, ch, fmt.Sprintf("basic.%s %d without confirm.select", verb, tag))
		return
	}
	first := tag
	if multiple {
		first = 1
	}
	for t := first; t <= tag; t++ {
		if !l.confirmed[t] || !multiple {
			l.confirmed[t] = true
			p.seen.confirmed(c.id, ch, fmt.Sprintf("confirm %s %d", verb, t))
		}
	}
}

// content adds a header or body frame to the incomplete message, and records the message when it is complete.
func (p *player) content(c *session, f protocol.Frame) {
	d := c.at(f.Channel).delivery
	if d == nil {
		p.saw(c, f.Channel, fmt.Sprintf("(content frame of type %d out of place)", f.Type))
		return
	}
	if f.Type == protocol.FrameHeader {
		h, err := protocol.ParseContentHeader(f.Payload)
		if err != nil {
			p.saw(c, f.Channel, "(broken content header)")
			return
		}
		properties, err := protocol.DecodeProperties(h.Properties)
		d.header, d.size, d.opened = describeProperties(properties), h.BodySize, true
		if err != nil {
			d.header = fmt.Sprintf("broken properties % x", h.Properties)
		}
	} else {
		d.body, d.pieces = append(d.body, f.Payload...), append(d.pieces, len(f.Payload))
	}
	if !d.opened || uint64(len(d.body)) < d.size {
		return
	}
	c.at(f.Channel).delivery = nil
	text := describe(d.method) + " | " + d.header + " | " + shorten(d.body)
	if len(d.pieces) > 1 {
		text += fmt.Sprintf(" in frames of %v", slices.Clone(d.pieces))
	}
	p.saw(c, f.Channel, text)
	if _, ok := d.method.(*protocol.BasicReturn); ok {
		p.seen.confirmed(c.id, f.Channel, normalise(describe(d.method), p.token))
	}
}

func (p *player) saw(c *session, ch uint16, text string) {
	p.seen.saw(c.id, ch, normalise(text, p.token))
}
