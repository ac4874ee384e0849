package amqp10

// Descriptors of performatives [AMQP 1.0 transport 2.7] and of SASL frames [security 5.3.3].
const (
	CodeOpen           = 0x10
	CodeBegin          = 0x11
	CodeAttach         = 0x12
	CodeFlow           = 0x13
	CodeTransfer       = 0x14
	CodeDisposition    = 0x15
	CodeDetach         = 0x16
	CodeEnd            = 0x17
	CodeClose          = 0x18
	CodeSASLMechanisms = 0x40
	CodeSASLInit       = 0x41
	CodeSASLChallenge  = 0x42
	CodeSASLResponse   = 0x43
	CodeSASLOutcome    = 0x44

	codeError       = 0x1d
	codeSource      = 0x28
	codeTarget      = 0x29
	codeCoordinator = 0x30
)

// Descriptors of the sections of a message, in their order [AMQP 1.0 messaging 3.2].
const (
	SectionHeader                = 0x70
	SectionDeliveryAnnotations   = 0x71
	SectionMessageAnnotations    = 0x72
	SectionProperties            = 0x73
	SectionApplicationProperties = 0x74
	SectionData                  = 0x75
	SectionSequence              = 0x76
	SectionValue                 = 0x77
	SectionFooter                = 0x78
)

// descriptors are the names that may be sent instead of descriptor numbers, with empty composites for bodies of frames.
var descriptors = [...]struct {
	name string
	code uint64
	body func() Composite
}{
	{"amqp:open:list", CodeOpen, empty[Open]},
	{"amqp:begin:list", CodeBegin, empty[Begin]},
	{"amqp:attach:list", CodeAttach, empty[Attach]},
	{"amqp:flow:list", CodeFlow, empty[Flow]},
	{"amqp:transfer:list", CodeTransfer, empty[Transfer]},
	{"amqp:disposition:list", CodeDisposition, empty[Disposition]},
	{"amqp:detach:list", CodeDetach, empty[Detach]},
	{"amqp:end:list", CodeEnd, empty[End]},
	{"amqp:close:list", CodeClose, empty[Close]},
	{"amqp:sasl-mechanisms:list", CodeSASLMechanisms, empty[SASLMechanisms]},
	{"amqp:sasl-init:list", CodeSASLInit, empty[SASLInit]},
	{"amqp:sasl-challenge:list", CodeSASLChallenge, empty[SASLChallenge]},
	{"amqp:sasl-response:list", CodeSASLResponse, empty[SASLResponse]},
	{"amqp:sasl-outcome:list", CodeSASLOutcome, empty[SASLOutcome]},
	{"amqp:error:list", codeError, nil},
	{"amqp:source:list", codeSource, nil},
	{"amqp:target:list", codeTarget, nil},
	{"amqp:coordinator:list", codeCoordinator, nil},
	{"amqp:received:list", uint64(Received), nil},
	{"amqp:accepted:list", uint64(Accepted), nil},
	{"amqp:rejected:list", uint64(Rejected), nil},
	{"amqp:released:list", uint64(Released), nil},
	{"amqp:modified:list", uint64(Modified), nil},
	{"amqp:declared:list", uint64(Declared), nil},
	{"amqp:transactional-state:list", uint64(Transactional), nil},
	{"amqp:header:list", SectionHeader, nil},
	{"amqp:delivery-annotations:map", SectionDeliveryAnnotations, nil},
	{"amqp:message-annotations:map", SectionMessageAnnotations, nil},
	{"amqp:properties:list", SectionProperties, nil},
	{"amqp:application-properties:map", SectionApplicationProperties, nil},
	{"amqp:data:binary", SectionData, nil},
	{"amqp:amqp-sequence:list", SectionSequence, nil},
	{"amqp:amqp-value:*", SectionValue, nil},
	{"amqp:footer:map", SectionFooter, nil},
}

// empty makes a composite.
func empty[T any, P interface {
	*T
	Composite
}]() Composite {
	return P(new(T))
}

// performative returns an empty performative or SASL frame of a descriptor, nil of others.
func performative(code uint64) Composite {
	for _, d := range descriptors {
		if d.code == code && d.body != nil {
			return d.body()
		}
	}
	return nil
}

// walk calls p.fields and returns the descriptor of p. A call of the interface's method would have f and p allocated, for each frame.
func (f *fields) walk(p Composite) (code uint64) {
	switch p := p.(type) {
	case *Transfer:
		p.fields(f)
		return CodeTransfer
	case *Disposition:
		p.fields(f)
		return CodeDisposition
	case *Flow:
		p.fields(f)
		return CodeFlow
	case *State:
		p.fields(f)
		return uint64(p.Kind)
	case *Header:
		p.fields(f)
		return SectionHeader
	case *Properties:
		p.fields(f)
		return SectionProperties
	case *Error:
		p.fields(f)
		return codeError
	case *Source:
		p.fields(f)
		return codeSource
	case *Target:
		p.fields(f)
		return codeTarget
	case *Coordinator:
		p.fields(f)
		return codeCoordinator
	}
	return f.walkRare(p)
}

// walkRare is walk for composites that come once in a connection, session or link.
func (f *fields) walkRare(p Composite) (code uint64) {
	switch p := p.(type) {
	case *Open:
		p.fields(f)
		return CodeOpen
	case *Begin:
		p.fields(f)
		return CodeBegin
	case *Attach:
		p.fields(f)
		return CodeAttach
	case *Detach:
		p.fields(f)
		return CodeDetach
	case *End:
		p.fields(f)
		return CodeEnd
	case *Close:
		p.fields(f)
		return CodeClose
	case *SASLMechanisms:
		p.fields(f)
		return CodeSASLMechanisms
	case *SASLInit:
		p.fields(f)
		return CodeSASLInit
	case *SASLChallenge:
		p.fields(f)
		return CodeSASLChallenge
	case *SASLResponse:
		p.fields(f)
		return CodeSASLResponse
	case *SASLOutcome:
		p.fields(f)
		return CodeSASLOutcome
	}
	return 0
}
