package integration

import (
	wire "encoding/binary"
	"fmt"
	"net"
	"testing"

	"candlemark/protocol/amqp10"
)

// transactor is an AMQP 1.0 client for transactions, with one session: link 0 is the coordinator's, the following ones send to
// queues, and the last one receives. Any error ends it.
type transactor struct {
	conn net.Conn
	in   []byte
	ids  uint32 // number of deliveries sent
	last uint32 // handle of the receiver
	got  []received
}

// received is a received message with its delivery-id.
type received struct {
	id   uint32
	body []byte
}

// transact connects a client that sends to some queues and receives from another one.
func transact(t *testing.T, b *broker, from string, to ...string) (*transactor, error) {
	conn, err := net.Dial("tcp", b.amqp)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	x := &transactor{conn: conn, last: uint32(len(to)) + 1}
	hello := append(amqp10.SASLProtocolHeader[:], amqp10.AppendFrame(nil, 0, &amqp10.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00guest\x00guest")})...)
	if err := x.say(hello); err != nil {
		return nil, err
	}
	if err := x.header(); err != nil {
		return nil, err
	}
	if _, err := x.want(amqp10.CodeSASLOutcome); err != nil {
		return nil, err
	}
	if err := x.say(amqp10.ProtocolHeader[:]); err != nil {
		return nil, err
	}
	if err := x.header(); err != nil {
		return nil, err
	}
	links := []amqp10.Composite{
		&amqp10.Open{ContainerID: "transactor", Hostname: "localhost", MaxFrameSize: 1 << 16, ChannelMax: 10},
		&amqp10.Begin{IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20, HandleMax: 255},
		&amqp10.Attach{
			Name: "coordinator", Role: amqp10.RoleSender, InitialDeliveryCount: amqp10.Some(uint32(0)), Source: &amqp10.Source{},
			Coordinator: &amqp10.Coordinator{},
		},
		&amqp10.Attach{
			Name: "from", Handle: x.last, Role: amqp10.RoleReceiver, Source: &amqp10.Source{Address: amqp10.Some("/queues/" + from)}, Target: &amqp10.Target{},
		},
		&amqp10.Flow{
			NextIncomingID: amqp10.Some(uint32(0)), IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20, Handle: amqp10.Some(x.last),
			DeliveryCount: amqp10.Some(uint32(0)), LinkCredit: amqp10.Some(uint32(1 << 20)),
		},
	}
	for i, queue := range to {
		links = append(links, &amqp10.Attach{
			Name: queue, Handle: uint32(i + 1), Role: amqp10.RoleSender, InitialDeliveryCount: amqp10.Some(uint32(0)), Source: &amqp10.Source{},
			Target: &amqp10.Target{Address: amqp10.Some("/queues/" + queue)},
		})
	}
	for _, p := range links {
		if err := x.say(amqp10.AppendFrame(nil, 0, p)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *transactor) say(bytes []byte) error {
	_, err := x.conn.Write(bytes)
	return err
}

func (x *transactor) fill() error {
	b := make([]byte, 1<<16)
	n, err := x.conn.Read(b)
	x.in = append(x.in, b[:n]...)
	return err
}

func (x *transactor) header() error {
	for len(x.in) < 8 {
		if err := x.fill(); err != nil {
			return err
		}
	}
	x.in = x.in[8:]
	return nil
}

// want reads until a performative arrives, and keeps messages received before it. Dispositions of received messages are skipped.
func (x *transactor) want(code uint64) (amqp10.Composite, error) {
	for {
		f, n, _, err := amqp10.ParseFrame(x.in, 1<<20)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if err := x.fill(); err != nil {
				return nil, err
			}
			continue
		}
		p, payload, err := f.Decode()
		if err != nil { // an empty frame
			x.in = x.in[n:]
			continue
		}
		if t, ok := p.(*amqp10.Transfer); ok {
			if at := len(payload) - 8; at >= 0 {
				x.got = append(x.got, received{t.DeliveryID.Value, append([]byte(nil), payload[at:]...)})
			}
		}
		got, _ := f.Code()
		d, settles := p.(*amqp10.Disposition)
		mine := got == code && (!settles || d.Role == amqp10.RoleReceiver)
		if mine && settles {
			d.State.TxnID = append([]byte(nil), d.State.TxnID...)
		}
		x.in = x.in[n:]
		switch got {
		case amqp10.CodeClose, amqp10.CodeEnd, amqp10.CodeDetach:
			return nil, fmt.Errorf("ended: %+v", p)
		}
		if mine {
			return p, nil
		}
	}
}

// send sends a message, in a transaction unless txn is nil, and returns its outcome.
func (x *transactor) send(handle uint32, txn, message []byte) (amqp10.State, error) {
	tr := &amqp10.Transfer{Handle: handle, DeliveryID: amqp10.Some(x.ids), DeliveryTag: wire.BigEndian.AppendUint32(nil, x.ids)}
	x.ids++
	if txn != nil {
		tr.State = amqp10.State{Kind: amqp10.Transactional, TxnID: txn}
	}
	frame := append(amqp10.AppendFrame(nil, 0, tr), message...)
	wire.BigEndian.PutUint32(frame, uint32(len(frame)))
	if err := x.say(frame); err != nil {
		return amqp10.State{}, err
	}
	p, err := x.want(amqp10.CodeDisposition)
	if err != nil {
		return amqp10.State{}, err
	}
	return p.(*amqp10.Disposition).State, nil
}

// coordinate sends a message to the coordinator.
func (x *transactor) coordinate(code uint64, fields ...any) (amqp10.State, error) {
	v, err := amqp10.Append(nil, amqp10.Described{Descriptor: code, Value: amqp10.List(fields)})
	if err != nil {
		return amqp10.State{}, err
	}
	return x.send(0, nil, amqp10.AppendSection(nil, amqp10.SectionValue, v))
}

// persistent returns a durable message, which ends with its body.
func persistent(body []byte) []byte {
	m := amqp10.AppendSection(nil, amqp10.SectionHeader, mustList(true))
	return append(amqp10.AppendDataHead(m, len(body)), body...)
}

func mustList(fields ...any) []byte {
	v, err := amqp10.Append(nil, amqp10.List(fields))
	if err != nil {
		panic(err)
	}
	return v
}

// accept settles a delivery in a transaction.
func (x *transactor) accept(txn []byte, id uint32) error {
	return x.say(amqp10.AppendFrame(nil, 0, &amqp10.Disposition{Role: amqp10.RoleReceiver, First: id, State: amqp10.State{
		Kind: amqp10.Transactional, TxnID: txn, Outcome: amqp10.AppendComposite(nil, &amqp10.State{Kind: amqp10.Accepted}),
	}}))
}

// next returns the next received message, waiting for it if necessary.
func (x *transactor) next() (received, error) {
	if len(x.got) == 0 {
		if _, err := x.want(amqp10.CodeTransfer); err != nil {
			return received{}, err
		}
	}
	m := x.got[0]
	x.got = x.got[1:]
	return m, nil
}
