package main

import (
	"encoding/binary"
	"fmt"

	"candlemark/protocol"
)

// dial opens a socket and sends nothing. No connection is opened on it automatically.
func dial() step {
	return step{conn: 1, bare: true, says: "(dial)", does: func(p *player, st *step) { p.dial(st.conn) }}
}

// hangUp closes the socket without a word.
func hangUp() step {
	return step{conn: 1, bare: true, says: "(hang up)", does: func(p *player, st *step) { p.hangUp(st.conn) }}
}

// connect opens a connection as every script does, but shows it and lets a script choose.
func connect(change func(*greeting)) step {
	return step{conn: 1, bare: true, says: "(connect)", does: func(p *player, st *step) {
		g := defaultGreeting()
		if change != nil {
			change(&g)
		}
		p.open(st.conn, g, true)
	}}
}

// holdCloseOk makes the client leave channel.close unanswered from now on.
func holdCloseOk() step {
	return step{conn: 1, ch: 1, does: func(p *player, st *step) { p.sessions[st.conn].holdCloseOk = true }}
}

// recordStart makes the client write all of connection.start down.
func recordStart() step {
	return step{conn: 1, bare: true, does: func(p *player, _ *step) { p.recordStart = true }}
}

// raw sends bytes and waits for silence.
func raw(says string, b []byte) step {
	return step{conn: 1, bare: true, says: "(" + says + ")", does: func(p *player, st *step) {
		p.sessions[st.conn].rough = true
		p.write(st.conn, b)
		p.settle()
	}}
}

// frame sends a frame on the channel of the step and does not wait. The channel is not asked for signs of life any more.
func frame(kind uint8, payload []byte) step {
	says := fmt.Sprintf("(frame type %d, %d bytes %q)", kind, len(payload), payload[:min(len(payload), 24)])
	return step{conn: 1, ch: 1, says: says, does: func(p *player, st *step) {
		p.sessions[st.conn].rough = true
		p.write(st.conn, rawFrame(kind, st.ch, payload, protocol.FrameEnd))
	}}
}

// heartbeat returns a heartbeat frame, on channel 0 as it belongs.
func heartbeat() step {
	st := frame(protocol.FrameHeartbeat, nil)
	st.ch = 0
	return st
}

// rawFrame makes a frame with any end octet.
func rawFrame(kind uint8, ch uint16, payload []byte, end byte) []byte {
	b := append([]byte{kind}, byte(ch>>8), byte(ch))
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(append(b, payload...), end)
}

// payload returns a method frame's payload.
func payload(m protocol.Method) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(m.Key().Class())<<16|uint32(m.Key().Method()))
	return m.Append(b)
}

// ids returns a method frame's payload with arguments given as bytes.
func ids(class, method uint16, arguments ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(class)<<16|uint32(method))
	return append(b, arguments...)
}

// contentHeader returns a content header frame's payload.
func contentHeader(class, weight uint16, size uint64, properties ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, class)
	b = binary.BigEndian.AppendUint16(b, weight)
	return append(binary.BigEndian.AppendUint64(b, size), properties...)
}

// publishMethod is the method frame of a publish in pieces.
func publishMethod(x, key string) step {
	return frameOf(&protocol.BasicPublish{Exchange: x, RoutingKey: key})
}

// frameOf sends a method as a raw frame: the token is put in, nothing else is done.
func frameOf(m protocol.Method) step {
	return step{conn: 1, ch: 1, says: describe(m), does: func(p *player, st *step) {
		p.sessions[st.conn].rough = true
		b := payload(p.named(m))
		p.write(st.conn, rawFrame(protocol.FrameMethod, st.ch, b, protocol.FrameEnd))
	}}
}
