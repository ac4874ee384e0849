package window

import (
	"math"

	"candlemark/protocol/amqp10"
)

// Incoming is the number of transfers that a client may send before it gets a new window. The actual limit is the
// connection's input credit, without which the reader stops.
const Incoming = 2048

// Session is the flow control of a session [AMQP 1.0 transport 2.5.6].
type Session struct {
	NextIncoming   uint32 // id of the next transfer
	Incoming       uint32 // number of transfers that the client may send
	NextOutgoing   uint32
	RemoteIncoming uint32 // number of transfers that the client accepts
	shut           bool   // in an alarm: the client is told that it may send no transfers
}

// New returns the window of a session whose client begins with the given values.
func New(nextOutgoingID, incomingWindow uint32) Session {
	return Session{NextIncoming: nextOutgoingID, Incoming: Incoming, RemoteIncoming: incomingWindow}
}

// Came counts a transfer of the client; false if the window was full.
func (w *Session) Came() bool {
	if w.Incoming == 0 {
		return false
	}
	w.NextIncoming++
	w.Incoming--
	return true
}

// Sent counts a transfer of the broker.
func (w *Session) Sent() {
	w.NextOutgoing++
	w.RemoteIncoming--
}

// Heard applies the window in a flow of the client, which may not have received everything that was sent.
func (w *Session) Heard(f *amqp10.Flow) {
	w.RemoteIncoming = uint32(max(int32(f.NextIncomingID.Or(0)+f.IncomingWindow-w.NextOutgoing), 0))
	if f.IncomingWindow > 1<<30 { // beyond the range of a signed difference
		w.RemoteIncoming = f.IncomingWindow - min(w.NextOutgoing-f.NextIncomingID.Or(0), f.IncomingWindow)
	}
}

// Shut closes the window in an alarm, or opens it again, and returns the flow for the client, nil if nothing changes.
// Transfers that were under way are accepted.
func (w *Session) Shut(shut bool) *amqp10.Flow {
	if w.shut == shut {
		return nil
	}
	w.shut = shut
	if !shut {
		w.Incoming = Incoming
	}
	return w.Flow()
}

// Renew opens the window again once half of it is used, and returns the flow for the client, otherwise nil.
func (w *Session) Renew() *amqp10.Flow {
	if w.shut || w.Incoming >= Incoming/2 {
		return nil
	}
	w.Incoming = Incoming
	return w.Flow()
}

// OfLink returns a flow that includes the delivery-count and credit of the link with the given handle.
func (s *Session) OfLink(handle, count, credit uint32) *amqp10.Flow {
	f := s.Flow()
	f.Handle, f.DeliveryCount, f.LinkCredit = amqp10.Some(handle), amqp10.Some(count), amqp10.Some(credit)
	return f
}

// Flow returns a flow with the session's windows.
func (w *Session) Flow() *amqp10.Flow {
	f := &amqp10.Flow{
		NextIncomingID: amqp10.Some(w.NextIncoming), IncomingWindow: w.Incoming,
		NextOutgoingID: w.NextOutgoing, OutgoingWindow: 1<<31 - 1,
	}
	if w.shut {
		f.IncomingWindow = 0
	}
	return f
}

// Account is the credit of a link on which the client receives.
type Account struct {
	Count  uint32 // delivery-count: messages sent, and credit used up
	credit uint32
}

// Credit returns how many more messages the client accepts.
func (a *Account) Credit() uint32 { return a.credit }

// Given applies the credit in a flow of the client, which may not have received the latest messages [AMQP 1.0 transport
// 2.6.7].
func (a *Account) Given(f *amqp10.Flow) {
	unseen := int64(int32(a.Count - f.DeliveryCount.Or(0)))
	a.credit = uint32(min(max(int64(f.LinkCredit.Value)-unseen, 0), math.MaxUint32))
}

// Sent counts a message.
func (a *Account) Sent() { a.Drained(a.Count + 1) }

// Drained uses up the credit up to count, the end of a drain; credit given during the drain stays.
func (a *Account) Drained(count uint32) {
	a.credit -= min(count-a.Count, a.credit)
	a.Count = count
}

// Keep reduces the credit to the n messages under way.
func (a *Account) Keep(n uint32) { a.credit = min(a.credit, n) }

// Tags converts delivery ids of a client to delivery numbers, whose lower 32 bits, counted from 0, are the ids. newest
// is the newest number, 0 before the first.
func Tags(first, last uint32, newest uint64) (from, to uint64, ok bool) {
	if newest == 0 {
		return 0, 0, false
	}
	at := func(id uint32) int64 { return int64(newest) - int64(int32(uint32(newest-1)-id)) }
	f, l := max(at(first), 1), min(at(last), int64(newest))
	return uint64(f), uint64(max(l, 0)), f <= l
}
