package servicebus

import (
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Facts are the facts of a delivery (mail.Facts).
type Facts struct {
	Seq                       int64 // as clients see it (SBE-18)
	Enqueued, Expires, Locked int64 // wall ms, 0 for none
	Due                       int64 // of a scheduled message
	DeliveryCount             uint32
	DiedIn, DiedOf            string // queue and reason of the last death, "" for none
	Deferred                  bool
	Scheduled                 bool      // it was a scheduled message
	Token                     LockToken // of a message received by its number, else zero
}

// reasons are the reasons of the broker's own dead letters.
var reasons = map[string]string{
	"expired": "TTLExpiredException", "delivery_limit": "MaxDeliveryCountExceeded", "hops": "MaxTransferHopCountExceeded", "rule_failed": "FilterException",
}

// Describe returns the annotations and properties of a delivery that Azure Service Bus adds.
func Describe(f Facts) *dialect.Entity {
	e := &dialect.Entity{DeliveryCount: f.DeliveryCount}
	annotate := func(key amqp10.Symbol, value any) {
		e.Annotations = append(e.Annotations, amqp10.Entry{Key: key, Value: value})
	}
	annotate("x-opt-sequence-number", f.Seq)
	annotate("x-opt-enqueued-time", amqp10.Timestamp(f.Enqueued))
	if f.Locked != 0 {
		annotate("x-opt-locked-until", amqp10.Timestamp(f.Locked))
	}
	switch {
	case f.Deferred:
		annotate("x-opt-message-state", int32(1))
	case f.Due != 0 || f.Scheduled:
		annotate("x-opt-message-state", int32(2))
	}
	if f.Token != (LockToken{}) {
		e.Instructions = amqp10.Map{{Key: amqp10.Symbol("x-opt-lock-token"), Value: f.Token.UUID()}}
	}
	if f.Due != 0 {
		annotate("x-opt-scheduled-enqueue-time", amqp10.Timestamp(f.Due))
		e.TTL = dialect.AsSent // it has no deadline yet
	}
	if f.Expires != 0 {
		e.TTL = max(f.Expires-f.Enqueued, 1)
	}
	if f.DiedIn != "" {
		annotate("x-opt-deadletter-source", f.DiedIn)
	}
	if reason, ok := reasons[f.DiedOf]; ok {
		e.Properties = protocol.Table{{Key: DeadLetterReason, Value: reason}}
	}
	return e
}

// WithoutBody returns an encoded message without its body and without its footer, which describes the body.
func WithoutBody(message []byte) []byte {
	s, err := amqp10.ScanSections(message)
	if err != nil {
		return message
	}
	return message[:s.BareEnd-len(s.Body())]
}
