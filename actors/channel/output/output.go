package output

import (
	"slices"
	"sync/atomic"

	"candlemark/actors/channel/qos"
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/outbox"
	"candlemark/internal/topology"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Config says where a channel's output goes.
type Config struct {
	Outbox   *outbox.Outbox
	ID       uint16 // of the channel
	FrameMax uint32 // bytes, 0 for no limit
	Gate     *message.Gate
	Replies  *atomic.Int64 // bytes of replies that wait in all channels of the connection
	Log      zerolog.Logger
	// Ready is called from any goroutine when there is room again, or a get's turn.
	Ready func()
	// VHost says whether Trace is told what was written.
	VHost *topology.VHost
	Trace func(queue string, items []mail.Delivery)
}

// Output is that of a channel. It is made by New.
type Output struct {
	cfg     Config
	out     qos.Sender
	unacked *unacked.Deliveries
	counts  *mail.Counts
	merged  merged
	held    []pendingWrite // what the outbox has no room for, and what comes behind it
	// stops is how many of them stop the client's input, replyBytes how much of
	// them are replies, owed is for contents among them.
	stops, replyBytes int
	owed              message.Debt
	wantsRoom         bool // Ready will be called
	claims            bool // a place among the connection's gets
	leaving           bool
}

// pendingWrite waits for room in the outbox, and for its turn behind what waits
// already.
type pendingWrite struct {
	consumer *Consumer
	deliver  *mail.Deliver // nil: then try is to be called
	try      func() bool   // false: not yet, and Ready will be called
	stops    bool          // until it is done no more of the client's input is run
	replies  int           // bytes of replies, which no window bounds
}

// New makes the output of a channel that nothing waits in. What it writes gets its
// tags from unacked and is counted in counts.
func New(cfg Config, out qos.Sender, deliveries *unacked.Deliveries, counts *mail.Counts) Output {
	return Output{cfg: cfg, out: out, unacked: deliveries, counts: counts}
}

// HasRoom notes that there is room. Confirms come first, then Resume is to be called:
// deliveries might leave them none time after time.
func (o *Output) HasRoom() { o.wantsRoom = false }

// Full tells whether room is waited for.
func (o *Output) Full() bool { return o.wantsRoom }

// Resume goes on with what was held back.
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
		o.owed.Settle()
	}
}

// catchUp does one of them; false: there is no room.
func (o *Output) catchUp(l *pendingWrite) bool {
	if l.deliver == nil {
		return l.try()
	}
	return o.write(l.consumer, l.deliver)
}

// Drop forgets what was held back: queues return it to its position.
func (o *Output) Drop() {
	for i := range o.held {
		if m := o.held[i].deliver; m != nil {
			m.Release()
		}
	}
	o.countReplies(-o.replyBytes)
	o.held, o.stops = nil, 0
	o.owed.Settle()
	o.Forgo()
}

// Leave is Drop when the connection ends: nothing waits for the client any more.
func (o *Output) Leave() {
	o.leaving = true
	o.Drop()
}

// Stops tells whether the client has to read before more of its input is run.
func (o *Output) Stops() bool { return o.stops > 0 }

// Len is how much is held back, in writes.
func (o *Output) Len() int { return len(o.held) }

// InTurn calls try when it is its turn, now or later, until it returns true; none of what
// the client sent behind is run before. So what a client does not read is bounded
// whatever it asks for: it holds one answer for each channel beside what fits into
// the outbox, and its input is bounded by credit. A connection that ends waits
// for no client.
func (o *Output) InTurn(try func() bool) {
	if len(o.held) > 0 || !try() {
		o.Wait(try)
	}
}

// Wait is InTurn for what has no room now.
func (o *Output) Wait(try func() bool) {
	if o.leaving {
		return
	}
	o.stops++
	o.held = append(o.held, pendingWrite{try: try, stops: true})
}

// Charge charges a content of so many bytes that waits to the connection's credit.
func (o *Output) Charge(bytes int) { o.owed.Owe(o.cfg.Gate, bytes) }

// Offer appends whole frames to the outbox if there is room, nothing of them if f
// panics. False: there is none, and Ready will be called.
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

// wantRoom has Ready called, once.
func (o *Output) wantRoom() {
	if !o.wantsRoom {
		o.wantsRoom = true
		o.cfg.Outbox.WhenRoom(o.cfg.Ready)
	}
}

// Reply tells the client something in its turn; input waits for it.
func (o *Output) Reply(m protocol.Method) {
	if len(o.held) > 0 || !o.say(m) {
		o.Wait(func() bool { return o.say(m) })
	}
}

// Notice tells the client something that it did not ask for, in its turn.
func (o *Output) Notice(m protocol.Method) {
	if len(o.held) > 0 || !o.say(m) {
		o.held = append(o.held, pendingWrite{try: func() bool { return o.say(m) }})
	}
}

func (o *Output) say(m protocol.Method) bool {
	return o.Offer(func(b []byte) []byte { return protocol.AppendMethodFrame(b, o.cfg.ID, m) })
}

// Claim takes a place among the gets of this connection. False: all are taken,
// and Ready is called with the first that is free.
func (o *Output) Claim() bool {
	o.claims = true
	return o.cfg.Outbox.Claim(o, o.cfg.Ready)
}

// Forgo gives the place back, or stops waiting for one.
func (o *Output) Forgo() {
	if o.claims {
		o.claims = false
		o.cfg.Outbox.Forgo(o)
	}
}
