package amqp10

// StateKind is which state of a delivery a State is: the descriptor.
type StateKind uint8

// The states of a delivery [AMQP 1.0 messaging 3.4, transactions 4.5.5-6]. Accepted to Modified are outcomes.
const (
	NoState       StateKind = 0 // null
	Received      StateKind = 0x23
	Accepted      StateKind = 0x24
	Rejected      StateKind = 0x25
	Released      StateKind = 0x26
	Modified      StateKind = 0x27
	Declared      StateKind = 0x33
	Transactional StateKind = 0x34
)

// Names of outcomes, as termini list them.
const (
	AcceptedName Symbol = "amqp:accepted:list"
	RejectedName Symbol = "amqp:rejected:list"
	ReleasedName Symbol = "amqp:released:list"
	ModifiedName Symbol = "amqp:modified:list"
)

// State is a state of a delivery, or its absence. Which fields count depends on Kind.
type State struct {
	Kind StateKind

	SectionNumber uint32 // Received
	SectionOffset uint64 // Received, bytes

	Error *Error // Rejected; nil when absent

	DeliveryFailed     bool // Modified: counts as an attempt
	UndeliverableHere  bool // Modified: not on this link again
	MessageAnnotations Map  // Modified: to be merged into the message's

	TxnID   []byte // Declared, Transactional; aliases the frame
	Outcome Value  // Transactional: an outcome, absent if there is none yet; aliases the frame
}

func (p *State) fields(f *fields) {
	switch p.Kind {
	case NoState, Accepted, Released:
	case Received:
		required(f, &p.SectionNumber)
		required(f, &p.SectionOffset)
	case Rejected:
		nested(f, &p.Error)
	case Modified:
		defaulted(f, &p.DeliveryFailed, false)
		defaulted(f, &p.UndeliverableHere, false)
		nullable(f, &p.MessageAnnotations)
	case Declared:
		required(f, &p.TxnID)
	case Transactional:
		required(f, &p.TxnID)
		nullable(f, &p.Outcome)
	default:
		f.cursor.fail(mismatch)
	}
}

// state is a field that is a state or null.
func (f *fields) state(p *State) {
	switch {
	case f.writing && p.Kind == NoState:
		f.nulls++
	case f.writing:
		f.flush()
		f.writeComposite(p)
	case f.null():
		*p = State{}
	default:
		*p = State{}
		code := f.cursor.descriptor()
		if p.Kind = StateKind(code); uint64(p.Kind) != code || p.Kind == NoState {
			f.cursor.fail(mismatch)
		}
		f.readFields(p)
	}
}
