package hotpath

import "candlemark/protocol/amqp10"

// Decoder decodes frames of AMQP 1.0, transfers, dispositions and flows without allocation. The zero value is ready to
// use.
type Decoder struct {
	transfer    amqp10.Transfer
	disposition amqp10.Disposition
	flow        amqp10.Flow
}

// Decode decodes a frame; payload is the part behind a transfer. Transfers, dispositions and flows are valid until the
// next call. The error is an *amqp10.Error, which ends the connection.
func (d *Decoder) Decode(f amqp10.Frame) (p amqp10.Composite, payload []byte, err error) {
	if payload, ok := Transfer(f.Body, &d.transfer); ok {
		return &d.transfer, payload, nil
	}
	if rest, ok := Disposition(f.Body, &d.disposition); ok && len(rest) == 0 {
		return &d.disposition, nil, nil
	}
	switch code, _ := f.Code(); code {
	case amqp10.CodeTransfer:
		d.transfer = amqp10.Transfer{}
		payload, err = amqp10.DecodeInto(f.Body, &d.transfer)
		return &d.transfer, payload, err
	case amqp10.CodeDisposition:
		d.disposition = amqp10.Disposition{}
		return &d.disposition, nil, decodeAll(f, &d.disposition)
	case amqp10.CodeFlow:
		d.flow = amqp10.Flow{}
		return &d.flow, nil, decodeAll(f, &d.flow)
	}
	p, _, err = f.Decode()
	return p, nil, err
}

// decodeAll decodes a frame that must not have a payload.
func decodeAll(f amqp10.Frame, p amqp10.Composite) error {
	rest, err := amqp10.DecodeInto(f.Body, p)
	if err == nil && len(rest) > 0 {
		err = amqp10.Errorf(amqp10.DecodeError, "%d bytes after the performative", len(rest))
	}
	return err
}
