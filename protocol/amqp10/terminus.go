package amqp10

// ExpireSessionEnd is the default of a terminus's expiry policy [AMQP 1.0 messaging 3.5.6].
const ExpireSessionEnd Symbol = "session-end"

// Source is where the messages of a link come from [AMQP 1.0 messaging 3.5.3].
type Source struct {
	Address               Optional[string]
	Durable               uint32 // 0 nothing, 1 the configuration, 2 deliveries too
	ExpiryPolicy          Symbol // link-detach, session-end (default), connection-close, never
	Timeout               uint32 // seconds
	Dynamic               bool
	DynamicNodeProperties Map
	DistributionMode      Symbol // "" when absent
	Filter                Map    // Described values, or plain ones by some clients
	DefaultOutcome        State
	Outcomes              []Symbol
	Capabilities          []Symbol
}

func (p *Source) fields(f *fields) {
	optional(f, &p.Address)
	defaulted(f, &p.Durable, 0)
	defaulted(f, &p.ExpiryPolicy, ExpireSessionEnd)
	defaulted(f, &p.Timeout, 0)
	defaulted(f, &p.Dynamic, false)
	nullable(f, &p.DynamicNodeProperties)
	defaulted(f, &p.DistributionMode, "")
	nullable(f, &p.Filter)
	f.state(&p.DefaultOutcome)
	nullable(f, &p.Outcomes)
	nullable(f, &p.Capabilities)
}

// Target is where the messages of a link go to [AMQP 1.0 messaging 3.5.4].
type Target struct {
	Address               Optional[string]
	Durable               uint32 // 0 nothing, 1 the configuration, 2 deliveries too
	ExpiryPolicy          Symbol // link-detach, session-end (default), connection-close, never
	Timeout               uint32 // seconds
	Dynamic               bool
	DynamicNodeProperties Map
	Capabilities          []Symbol
}

func (p *Target) fields(f *fields) {
	optional(f, &p.Address)
	defaulted(f, &p.Durable, 0)
	defaulted(f, &p.ExpiryPolicy, ExpireSessionEnd)
	defaulted(f, &p.Timeout, 0)
	defaulted(f, &p.Dynamic, false)
	nullable(f, &p.DynamicNodeProperties)
	nullable(f, &p.Capabilities)
}

// Coordinator is the target of a link for transactions [AMQP 1.0 transactions 4.5.1].
type Coordinator struct{ Capabilities []Symbol }

func (p *Coordinator) fields(f *fields) { nullable(f, &p.Capabilities) }

// target is the target field of an attach, which has one of two types.
func (f *fields) target(p *Attach) {
	switch {
	case f.writing && p.Coordinator != nil:
		nested(f, &p.Coordinator)
	case f.writing:
		nested(f, &p.Target)
	default:
		p.Target, p.Coordinator = nil, nil
		ahead := f.cursor
		if f.left > 0 && ahead.descriptor() == codeCoordinator {
			nested(f, &p.Coordinator)
		} else {
			nested(f, &p.Target)
		}
	}
}
