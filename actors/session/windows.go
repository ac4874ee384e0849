package session

import "candlemark/protocol/amqp10"

// incomingWindow is how many transfers a client may send before it hears of a new window. What really bounds them is the
// credit of the connection's input: the reader reads no more.
const incomingWindow = 2048

// handleMax is the highest handle of a session, which bounds its links.
const handleMax = 255

// windows are the flow control of a session [AMQP 1.0 transport 2.5.6].
type windows struct {
	nextIncoming   uint32 // id of the transfer that comes next
	incoming       uint32 // transfers that may come
	nextOutgoing   uint32
	remoteIncoming uint32 // transfers that the client takes
}

func newWindows(cfg *Config) windows {
	return windows{nextIncoming: cfg.NextOutgoingID, incoming: incomingWindow, remoteIncoming: cfg.IncomingWindow}
}

// came counts a transfer; false: there was no room for it.
func (w *windows) came() bool {
	if w.incoming == 0 {
		return false
	}
	w.nextIncoming++
	w.incoming--
	return true
}

// sent counts a transfer of ours.
func (w *windows) sent() {
	w.nextOutgoing++
	w.remoteIncoming--
}

// heard takes what the client says of its window, perhaps before it has seen all that was sent.
func (w *windows) heard(f *amqp10.Flow) {
	w.remoteIncoming = uint32(max(int32(f.NextIncomingID.Or(0)+f.IncomingWindow-w.nextOutgoing), 0))
	if f.IncomingWindow > 1<<30 { // beyond what a signed difference can tell
		w.remoteIncoming = f.IncomingWindow - min(w.nextOutgoing-f.NextIncomingID.Or(0), f.IncomingWindow)
	}
}

// flow tells the client of ours.
func (w *windows) flow() *amqp10.Flow {
	return &amqp10.Flow{
		NextIncomingID: amqp10.Some(w.nextIncoming), IncomingWindow: w.incoming,
		NextOutgoingID: w.nextOutgoing, OutgoingWindow: 1<<31 - 1,
	}
}

// begin answers the client's begin.
func (s *state) begin() {
	s.reply(&amqp10.Begin{
		RemoteChannel: amqp10.Some(s.cfg.Channel), NextOutgoingID: s.windows.nextOutgoing,
		IncomingWindow: s.windows.incoming, OutgoingWindow: 1<<31 - 1, HandleMax: handleMax,
	})
	s.write()
}

// flow takes what the client says of its windows and of a link's credit.
func (s *state) flow(f *amqp10.Flow) {
	s.windows.heard(f)
	if !f.Handle.Set {
		if f.Echo {
			s.reply(s.windows.flow())
		}
		return
	}
	l := s.links[f.Handle.Value]
	switch {
	case l == nil:
		s.fail(amqp10.Errorf(amqp10.UnattachedHandle, "flow for handle %d, which is not attached", f.Handle.Value))
	case l.closing:
	case l.consumer != nil:
		s.creditGiven(l, f)
	case l.answers != nil:
		answersWanted(s, l, f)
	case f.Echo:
		s.reply(l.flow(&s.windows))
	}
}

// topUp has the client send more, once it has half of its window or credit left.
func (s *state) topUp() {
	if s.phase != open {
		return
	}
	if s.windows.incoming < incomingWindow/2 {
		s.windows.incoming = incomingWindow
		s.reply(s.windows.flow())
	}
}
