package dialect

import "candlemark/protocol/amqp10"

// Attached answers the attach of a link that the client receives on; maxMessageSize is in bytes. settled means that the
// client settles nothing.
func Attached(m *amqp10.Attach, settled bool, maxMessageSize uint64) *amqp10.Attach {
	mode := amqp10.SenderUnsettled
	if settled {
		mode = amqp10.SenderSettled
	}
	source := *m.Source
	source.Filter = nil // no filter applies
	return &amqp10.Attach{
		Name: m.Name, Handle: m.Handle, Role: amqp10.RoleSender, SndSettleMode: mode, RcvSettleMode: m.RcvSettleMode, Source: &source, Target: m.Target,
		InitialDeliveryCount: amqp10.Some(uint32(0)), MaxMessageSize: amqp10.Some(maxMessageSize),
	}
}

// AttachedTarget answers the attach of a link that the client sends on; maxMessageSize is in bytes.
func AttachedTarget(m *amqp10.Attach, maxMessageSize uint64) *amqp10.Attach {
	return &amqp10.Attach{
		Name: m.Name, Handle: m.Handle, Role: amqp10.RoleReceiver, SndSettleMode: m.SndSettleMode, RcvSettleMode: m.RcvSettleMode,
		Source: m.Source, Target: m.Target, MaxMessageSize: amqp10.Some(maxMessageSize),
	}
}

// Outcomes sets the outcomes in the source of a link.
func Outcomes(source *amqp10.Source) {
	source.DefaultOutcome = amqp10.State{Kind: amqp10.Released}
	source.Outcomes = []amqp10.Symbol{amqp10.AcceptedName, amqp10.RejectedName, amqp10.ReleasedName, amqp10.ModifiedName}
}
