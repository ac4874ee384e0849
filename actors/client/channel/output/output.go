package output

import (
	"slices"
	"sync/atomic"

	"candlemark/actors/client/qos"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Config is the destination of a channel's output.
type Config struct {
	Outbox   *outbox.Outbox
	ID       uint16 // the channel's number
	FrameMax uint32 // bytes, 0 for no limit
	Gate     *message.Gate
	Replies  *atomic.Int64 // bytes of waiting replies over all channels of the connection
	Unread   *budget.Part  // charged with messages and replies that wait; nil for no limit
	Log      zerolog.Logger
	// Ready is called from any goroutine when there is room again, or a get can be sent.
	Ready func()
	// VHost determines whether to call Trace for deliveries written.
	VHost *topology.VHost
	Trace func(queue string, items []mail.Delivery)
}

// Output is the output of a channel. It is created by New.
type Output struct {
	cfg     Config
	out     qos.Sender
	unacked *unacked.Deliveries
	counts  *mail.Counts
	merged  merged
	held    []pendingWrite // output that waits for room, in order
	// stops is the number of held writes that stop the client's input, replyBytes the size of held replies, owed the
	// credit charged for held contents.
	stops, replyBytes int
	owed              message.Charge
	wantsRoom         bool // Ready will be called when there is room
	wantsRead         bool // Ready will be called when the client has read
	claims            bool // has a place among the connection's gets
	leaving           bool
}

// pendingWrite is output that waits for room in the outbox, after earlier output.
type pendingWrite struct {
	consumer *Consumer
	deliver  *mail.Deliver // if nil, try is called
	try      func() bool   // returns false if there is no room; Ready will be called
	stops    bool          // stops the client's input until it is written
	replies  int           // bytes of replies, which no window limits
}

// New returns the output of a new channel. Deliveries get their tags from deliveries, and are counted in counts.
func New(cfg Config, out qos.Sender, deliveries *unacked.Deliveries, counts *mail.Counts) Output {
	return Output{cfg: cfg, out: out, unacked: deliveries, counts: counts}
}

// HasRoom records that there is room again. The caller writes confirms first and then calls Resume, as deliveries might
// otherwise use up the room every time.
func (o *Output) HasRoom() { o.wantsRoom, o.wantsRead = false, false }

// Full reports whether output waits for room.
func (o *Output) Full() bool { return o.wantsRoom }

// Resume continues with held output.
func (o *Output) Resume() {
	n := 0
	for n < len(o.held) && o.catchUp(&o.held[n]) {
		if bytes := o.held[n].replies; bytes > 0 {
			o.countReplies(-bytes)
		}
		if o.held[n].stops {
			o.stops--
		}
		n++
	}
	if o.held = slices.Delete(o.held, 0, n); len(o.held) == 0 {
		o.owed.Release()
	}
}

// catchUp writes one held item; false if there is no room.
func (o *Output) catchUp(l *pendingWrite) bool {
	if l.deliver == nil {
		return l.try()
	}
	return o.write(l.consumer, l.deliver)
}

// Drop drops held output. The queues requeue its messages.
func (o *Output) Drop() {
	for i := range o.held {
		if m := o.held[i].deliver; m != nil {
			m.Release()
		}
	}
	o.countReplies(-o.replyBytes)
	o.held, o.stops = nil, 0
	o.owed.Release()
	o.Forgo()
}

// Leave does the same as Drop at the end of the connection; from then on nothing waits for the client.
func (o *Output) Leave() {
	o.leaving = true
	o.Drop()
}

// Stops reports whether the client has to read before more of its input is processed.
func (o *Output) Stops() bool { return o.stops > 0 }

// Len returns the number of held writes.
func (o *Output) Len() int { return len(o.held) }

// InTurn calls try, after held output, until it returns true; until then no later input is processed. This bounds the
// memory for a client that does not read: the outbox, one answer for each channel, and input limited by credit. A
// connection that is ending does not wait for the client.
func (o *Output) InTurn(try func() bool) {
	if len(o.held) > 0 || !try() {
		o.Wait(try)
	}
}

// Wait does the same as InTurn for output that is known not to fit now.
func (o *Output) Wait(try func() bool) {
	if o.leaving {
		return
	}
	o.stops++
	o.held = append(o.held, pendingWrite{try: try, stops: true})
}

// Charge charges the bytes of a waiting content to the connection's credit.
func (o *Output) Charge(bytes int) { o.owed.Add(o.cfg.Gate, bytes) }

// Offer appends the frames from f to the outbox if there is room, and nothing if f panics. Otherwise it returns false,
// and Ready will be called.
func (o *Output) Offer(f func(b []byte) []byte) (done bool) {
	out := o.cfg.Outbox
	b := out.Begin()
	defer func() {
		out.End(b)
		if !done {
			o.wantRoom()
		}
	}()
	if out.RoomFor(b) {
		b, done = f(b), true
	}
	return done
}

// wantRoom requests one call of Ready.
func (o *Output) wantRoom() {
	if !o.wantsRoom {
		o.wantsRoom = true
		o.cfg.Outbox.WhenRoom(o.cfg.Ready)
	}
}

// Reply writes an answer to the client, in order; input waits for it.
func (o *Output) Reply(m protocol.Method) {
	if len(o.held) > 0 || !o.say(m) {
		o.Wait(func() bool { return o.say(m) })
	}
}

// Notice writes an unsolicited method, in order.
func (o *Output) Notice(m protocol.Method) {
	if len(o.held) > 0 || !o.say(m) {
		o.held = append(o.held, pendingWrite{try: func() bool { return o.say(m) }})
	}
}

func (o *Output) say(m protocol.Method) bool {
	return o.Offer(func(b []byte) []byte { return protocol.AppendMethodFrame(b, o.cfg.ID, m) })
}

// Roomy reports whether a message with the given charge may be requested. Otherwise Ready is called when it may.
func (o *Output) Roomy(charge int64) bool {
	if o.cfg.Unread.Room(charge) {
		return true
	}
	if !o.wantsRead {
		o.wantsRead = true
		o.cfg.Unread.WhenRoom(charge, o.cfg.Ready)
	}
	return false
}

// Claim takes a place among the gets of the connection. If all are taken it returns false, and Ready is called when one
// is free.
func (o *Output) Claim() bool {
	o.claims = true
	return o.cfg.Outbox.Claim(o, o.cfg.Ready)
}

// Forgo frees the place, or stops waiting for one.
func (o *Output) Forgo() {
	if o.claims {
		o.claims = false
		o.cfg.Outbox.Forgo(o)
	}
}
