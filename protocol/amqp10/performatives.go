package amqp10

import "math"

// The performatives [AMQP 1.0 transport 2.7]. Times are in milliseconds, sizes in bytes. Fields of type Optional and pointers may be
// absent and have no default; fields with a default have Go's zero value in a zero struct, so that a struct literal
// must set them.

// Open is the first frame of a connection.
type Open struct {
	ContainerID         string
	Hostname            string // "" when absent
	MaxFrameSize        uint32 // largest frame that the sender accepts; default 2^32-1, at least MinMaxFrameSize
	ChannelMax          uint16 // default 65,535
	IdleTimeout         Optional[uint32]
	OutgoingLocales     []Symbol
	IncomingLocales     []Symbol
	OfferedCapabilities []Symbol
	DesiredCapabilities []Symbol
	Properties          Map
}

func (p *Open) fields(f *fields) {
	required(f, &p.ContainerID)
	defaulted(f, &p.Hostname, "")
	defaulted(f, &p.MaxFrameSize, math.MaxUint32)
	defaulted(f, &p.ChannelMax, math.MaxUint16)
	optional(f, &p.IdleTimeout)
	nullable(f, &p.OutgoingLocales)
	nullable(f, &p.IncomingLocales)
	nullable(f, &p.OfferedCapabilities)
	nullable(f, &p.DesiredCapabilities)
	nullable(f, &p.Properties)
	if p.MaxFrameSize < MinMaxFrameSize && !f.writing {
		f.cursor.fail(mismatch)
	}
}

// Begin starts a session.
type Begin struct {
	RemoteChannel       Optional[uint16] // of the begin that this one answers
	NextOutgoingID      uint32
	IncomingWindow      uint32 // transfers
	OutgoingWindow      uint32 // transfers
	HandleMax           uint32 // default 2^32-1
	OfferedCapabilities []Symbol
	DesiredCapabilities []Symbol
	Properties          Map
}

func (p *Begin) fields(f *fields) {
	optional(f, &p.RemoteChannel)
	required(f, &p.NextOutgoingID)
	required(f, &p.IncomingWindow)
	required(f, &p.OutgoingWindow)
	defaulted(f, &p.HandleMax, math.MaxUint32)
	nullable(f, &p.OfferedCapabilities)
	nullable(f, &p.DesiredCapabilities)
	nullable(f, &p.Properties)
}

// Roles of a link's end.
const (
	RoleSender   = false
	RoleReceiver = true
)

// Settlement modes.
const (
	SenderUnsettled uint8 = 0
	SenderSettled   uint8 = 1
	SenderMixed     uint8 = 2 // default

	ReceiverFirst  uint8 = 0 // default
	ReceiverSecond uint8 = 1
)

// Attach attaches a link.
type Attach struct {
	Name                 string
	Handle               uint32
	Role                 bool  // of who sends it
	SndSettleMode        uint8 // default SenderMixed; at most that
	RcvSettleMode        uint8 // at most ReceiverSecond
	Source               *Source
	Target               *Target
	Coordinator          *Coordinator // in place of Target, on a link for transactions
	Unsettled            Map          // delivery tags with states
	IncompleteUnsettled  bool
	InitialDeliveryCount Optional[uint32]
	MaxMessageSize       Optional[uint64] // absent and 0: no limit
	OfferedCapabilities  []Symbol
	DesiredCapabilities  []Symbol
	Properties           Map
}

func (p *Attach) fields(f *fields) {
	required(f, &p.Name)
	required(f, &p.Handle)
	required(f, &p.Role)
	defaulted(f, &p.SndSettleMode, SenderMixed)
	defaulted(f, &p.RcvSettleMode, ReceiverFirst)
	nested(f, &p.Source)
	f.target(p)
	nullable(f, &p.Unsettled)
	defaulted(f, &p.IncompleteUnsettled, false)
	optional(f, &p.InitialDeliveryCount)
	optional(f, &p.MaxMessageSize)
	nullable(f, &p.OfferedCapabilities)
	nullable(f, &p.DesiredCapabilities)
	nullable(f, &p.Properties)
	f.atMost(p.SndSettleMode, SenderMixed)
	f.atMost(p.RcvSettleMode, ReceiverSecond)
}

// Flow carries the session's windows and, for a link, its credit.
type Flow struct {
	NextIncomingID Optional[uint32]
	IncomingWindow uint32 // transfers
	NextOutgoingID uint32
	OutgoingWindow uint32 // transfers
	Handle         Optional[uint32]
	DeliveryCount  Optional[uint32]
	LinkCredit     Optional[uint32] // messages
	Available      Optional[uint32] // messages
	Drain          bool
	Echo           bool
	Properties     Map
}

func (p *Flow) fields(f *fields) {
	optional(f, &p.NextIncomingID)
	required(f, &p.IncomingWindow)
	required(f, &p.NextOutgoingID)
	required(f, &p.OutgoingWindow)
	optional(f, &p.Handle)
	optional(f, &p.DeliveryCount)
	optional(f, &p.LinkCredit)
	optional(f, &p.Available)
	defaulted(f, &p.Drain, false)
	defaulted(f, &p.Echo, false)
	nullable(f, &p.Properties)
}

// Transfer carries a message, or a part of it.
type Transfer struct {
	Handle        uint32
	DeliveryID    Optional[uint32] // absent from the second frame of a message on
	DeliveryTag   []byte           // aliases the frame; at most 32 bytes; nil when absent
	MessageFormat Optional[uint32]
	Settled       bool // of a message if one of its frames says so
	More          bool
	RcvSettleMode Optional[uint8]
	State         State
	Resume        bool
	Aborted       bool
	Batchable     bool
}

const maxDeliveryTag = 32 // [AMQP 1.0 transport 2.8.7]

func (p *Transfer) fields(f *fields) {
	required(f, &p.Handle)
	optional(f, &p.DeliveryID)
	nullable(f, &p.DeliveryTag)
	optional(f, &p.MessageFormat)
	defaulted(f, &p.Settled, false)
	defaulted(f, &p.More, false)
	optional(f, &p.RcvSettleMode)
	f.state(&p.State)
	defaulted(f, &p.Resume, false)
	defaulted(f, &p.Aborted, false)
	defaulted(f, &p.Batchable, false)
	f.atMost(p.RcvSettleMode.Value, ReceiverSecond)
	if len(p.DeliveryTag) > maxDeliveryTag {
		f.cursor.fail(mismatch)
	}
}

// Disposition carries the state of a range of deliveries.
type Disposition struct {
	Role      bool // of who sends it
	First     uint32
	Last      Optional[uint32] // First when absent
	Settled   bool
	State     State
	Batchable bool
}

func (p *Disposition) fields(f *fields) {
	required(f, &p.Role)
	required(f, &p.First)
	optional(f, &p.Last)
	defaulted(f, &p.Settled, false)
	f.state(&p.State)
	defaulted(f, &p.Batchable, false)
}

// Detach detaches a link and, with Closed, ends it.
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

func (p *Detach) fields(f *fields) {
	required(f, &p.Handle)
	defaulted(f, &p.Closed, false)
	nested(f, &p.Error)
}

// End ends a session.
type End struct{ Error *Error }

func (p *End) fields(f *fields) { nested(f, &p.Error) }

// Close ends a connection.
type Close struct{ Error *Error }

func (p *Close) fields(f *fields) { nested(f, &p.Error) }

// atMost refuses values that an enumeration does not have.
func (f *fields) atMost(v, limit uint8) {
	if v > limit && !f.writing {
		f.cursor.fail(mismatch)
	}
}
