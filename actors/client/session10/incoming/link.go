package incoming

import (
	"bytes"

	"candlemark/actors/client/rights"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// Credit is the number of messages that a client may publish on a link before their settlement. It is renewed when half
// of it is used.
const Credit = 500

// Target is the target of a link. Its dialect sets all fields when the link is attached.
type Target struct {
	Anonymous     bool   // each message has its own address
	Exchange, Key []byte // otherwise the same for all messages
	Reader        dialect.Reader
	// BatchFormat is the message-format of batches, 0 if they are not supported.
	BatchFormat uint32
	// Whole: a message that is too large or has no room is refused when it is complete; otherwise it detaches the link at once.
	// Clients of Azure Service Bus wait for the outcome of a message even if its link is detached.
	Whole bool
	// Refused and Unroutable are the outcomes of a message that the client may not publish to the target, and of a message
	// without a queue.
	Refused, Unroutable amqp10.StateKind

	checks checks
	holder *topology.Queue // of the topic, for messages that the topic is to hold; otherwise nil
}

// NewTarget returns a target of RabbitMQ's dialect without an address, for the link with the given handle.
func NewTarget(handle uint32) Target {
	return Target{Reader: dialect.NewReader(handle), Refused: amqp10.Released, Unroutable: amqp10.Released, checks: rabbitMQ{}}
}

// ToEntity sets the target to an entity of Azure Service Bus: an exchange, or a queue if exchange is "".
func (t *Target) ToEntity(address, exchange, key string) {
	t.Exchange, t.Key, t.checks = []byte(exchange), []byte(key), &entity{address: address}
	t.BatchFormat, t.Whole = servicebus.BatchFormat, true
	t.Refused, t.Unroutable = amqp10.Rejected, amqp10.Released // clients mistake released for success
	if exchange != "" {
		t.Unroutable = amqp10.Accepted // no rule of the topic selects it (SBR-5)
	}
}

// ToQueue returns the target of messages sent to an address for a queue, or for the holder of a topic (DLY-15).
func ToQueue(address string, q *topology.Queue) (t Target) {
	if q.Holds() {
		t.ToEntity(address, topology.HeldFor(q.Name), "")
		t.holder = q
	} else {
		t.ToEntity(address, "", q.Name)
	}
	return t
}

// Name returns the name of the entity: the exchange, or the queue if it is the default exchange.
func (t *Target) Name() string {
	if len(t.Exchange) > 0 {
		return string(t.Exchange)
	}
	return string(t.Key)
}

// To sets the target from an address of RabbitMQ's dialect, and returns the queue if it is a queue. Errors:
// *amqp10.Error, *protocol.ChannelError.
func (t *Target) To(address string, may *rights.Rights) (*topology.Queue, error) {
	to, err := dialect.ParseTarget(address)
	if err != nil {
		return nil, err
	}
	if _, err := may.Writable([]byte(to.Exchange)); err != nil {
		return nil, err
	}
	t.Exchange, t.Key = []byte(to.Exchange), []byte(to.Key)
	switch {
	case to.Exchange != "":
		return nil, nil
	case !topology.IsReplyName(t.Key):
		return may.Queue(to.Key)
	case may.VHost.Requester(t.Key) == nil:
		return nil, amqp10.Errorf(amqp10.NotFound, "no requester waits for replies at '%s'", address)
	}
	return nil, nil
}

// Link is the credit of a link on which the client sends, and its incomplete delivery.
type Link struct {
	Target
	Window         uint32     // number of messages that the client may send before settlement
	MaxMessageSize uint64     // limit for messages, in bytes
	Mode           uint8      // snd-settle-mode
	Properties     amqp10.Map // of the answer to its attach
	Credit, Count  uint32
	Open           int // messages without a written outcome, and requests without a written answer

	begun   bool
	id      uint32
	tag     []byte // delivery-tag, for an anonymous link
	settled bool
	batched bool
	txn     []byte
	parts   parts
	kept    int64 // bytes of the parts, counted as incomplete input of the connection
	refused error // why the message is refused once it is complete, and its rest dropped; nil otherwise
}

// ToEntity sets the target to an entity of Azure Service Bus: an exchange, or a queue if exchange is "". Both settle modes are allowed.
func (l *Link) ToEntity(address, exchange, key string, maxMessageSize uint64) {
	l.Target.ToEntity(address, exchange, key)
	l.MaxMessageSize, l.Mode, l.Properties = maxMessageSize, amqp10.SenderMixed, servicebus.LinkProperties(maxMessageSize)
}

// Publishing is a complete delivery.
type Publishing struct {
	ID      uint32
	Settled bool   // no outcome is expected
	Batched bool   // it contains several messages
	Txn     []byte // id of its transaction, nil for none
	Payload []byte // a whole message
	Owned   bool   // the payload does not alias the read
	// Refused is the error for a message, then without payload, that is too large or has no room (SBE-13); nil for
	// others.
	Refused error
}

// SessionError is an error that ends the session; other errors detach the link.
type SessionError struct{ error }

// Unwrap returns the error that has the condition.
func (e *SessionError) Unwrap() error { return e.error }

// Forget drops an incomplete delivery.
func (l *Link) Forget(a *budget.Arrivals) {
	a.Drop(l.kept)
	l.begun, l.settled, l.batched, l.txn, l.parts, l.kept, l.refused = false, false, false, nil, parts{}, 0, nil
}

// Refill renews the client's credit, once half of it is used and settled, and reports whether it did.
func (l *Link) Refill() bool {
	if l.Credit > l.Window/2 || l.Open >= int(l.Window) {
		return false
	}
	l.Credit = l.Window
	return true
}

// Take handles a transfer, and returns the delivery if it is complete. Errors: *amqp10.Error, possibly in a
// *SessionError.
func (l *Link) Take(t *amqp10.Transfer, payload []byte, a *budget.Arrivals) (d Publishing, whole bool, err error) {
	if !l.begun {
		if err := l.begin(t); err != nil {
			return d, false, err
		}
	}
	if t.DeliveryID.Set && t.DeliveryID.Value != l.id {
		return d, false, &SessionError{amqp10.Errorf(amqp10.InvalidField, "delivery %d begins before delivery %d is complete", t.DeliveryID.Value, l.id)}
	}
	if l.settled = l.settled || t.Settled; t.Aborted {
		l.Forget(a)
		return d, false, nil
	}
	if l.refused == nil {
		err = l.room(t, payload, a)
	}
	switch {
	case err != nil && !l.Whole:
		return d, false, err
	case err != nil || l.refused != nil:
		d = l.drop(t, a, err)
		return d, d.Refused != nil, nil
	}
	if t.More {
		l.parts.add(payload)
		return d, false, nil
	}
	d = Publishing{ID: l.id, Settled: l.settled, Batched: l.batched, Txn: l.txn, Payload: payload}
	if l.parts.size > 0 {
		d.Payload, d.Owned = l.parts.with(payload), true
	}
	l.Forget(a)
	return d, true, l.moded(d.Settled)
}

// room checks that there is room for a transfer.
func (l *Link) room(t *amqp10.Transfer, payload []byte, a *budget.Arrivals) error {
	switch {
	case uint64(l.parts.size+len(payload)) > l.MaxMessageSize:
		return amqp10.Errorf(amqp10.MessageSizeExceeded, "message is larger than the maximum of %d bytes", l.MaxMessageSize)
	case t.More || l.parts.size > 0:
		return l.keep(payload, a)
	}
	return nil
}

// drop drops a transfer of a refused message, and the earlier transfers of the message. A non-nil err becomes the
// reason. It returns the delivery if this is the last transfer.
func (l *Link) drop(t *amqp10.Transfer, a *budget.Arrivals, err error) (d Publishing) {
	if err != nil {
		a.Drop(l.kept)
		l.parts, l.kept, l.refused = parts{}, 0, err
	}
	if !t.More {
		d = Publishing{ID: l.id, Settled: l.settled, Txn: l.txn, Refused: l.refused}
		l.Forget(a)
	}
	return d
}

// moded checks a delivery against the snd-settle-mode of the link.
func (l *Link) moded(settled bool) error {
	switch {
	case l.Mode == amqp10.SenderSettled && !settled:
		return amqp10.Errorf(amqp10.InvalidField, "sender settle mode is 'settled' but transfer settled flag is interpreted as being 'false'")
	case l.Mode == amqp10.SenderUnsettled && settled:
		return amqp10.Errorf(amqp10.InvalidField, "sender settle mode is 'unsettled' but transfer settled flag is interpreted as being 'true'")
	}
	return nil
}

// begin handles the fields of a delivery's first transfer.
func (l *Link) begin(t *amqp10.Transfer) error {
	switch {
	case l.Credit == 0:
		return amqp10.Errorf(amqp10.TransferLimitExceeded, "more messages than the link credit allows")
	case !t.DeliveryID.Set:
		return &SessionError{amqp10.Errorf(amqp10.InvalidField, "the first transfer of a delivery has no delivery-id")}
	case t.MessageFormat.Or(0) != 0 && t.MessageFormat.Value != l.BatchFormat:
		return amqp10.Errorf(amqp10.NotImplemented, "message-format %d is not supported", t.MessageFormat.Value)
	}
	l.Credit--
	l.Count++
	l.begun, l.id, l.batched = true, t.DeliveryID.Value, t.MessageFormat.Or(0) != 0
	if l.Anonymous {
		l.tag = append(l.tag[:0], t.DeliveryTag...)
	}
	if t.State.Kind == amqp10.Transactional {
		l.txn = bytes.Clone(t.State.TxnID)
	}
	return nil
}

// Blame returns the error that detaches the link because of its last delivery. On an anonymous link it contains the
// delivery-tag.
func (l *Link) Blame(err error) error {
	if !l.Anonymous {
		return err
	}
	e := *dialect.ErrorOf(err)
	e.Info = amqp10.Map{{Key: amqp10.Symbol("delivery-tag"), Value: bytes.Clone(l.tag)}}
	return &e
}

// keep stores a part until the rest arrives. It is counted in the broker's intake.
func (l *Link) keep(payload []byte, a *budget.Arrivals) error {
	n := int64(len(payload))
	if ok, limit := a.Keep(n); !ok {
		return amqp10.Errorf(amqp10.ResourceLimitExceeded, "incomplete messages and transactions of all clients have reached their limit of %d bytes", limit)
	}
	l.kept += n
	return nil
}
