package vhost

import (
	"fmt"

	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// charge counts a queue or exchange for the user who declared it.
type charge struct {
	holder *budget.Holder
	bytes  int64
	notes  *budget.Holder // of a queue that has an actor
}

// begin counts that many bytes for a holder from now on.
func (c *charge) begin(h *budget.Holder, bytes int64) {
	c.holder = h
	c.pay(bytes)
}

func (c *charge) pay(bytes int64) {
	c.holder.Hold(bytes - c.bytes)
	c.bytes = bytes
	if bytes == 0 {
		c.notes.Close()
	}
}

// renew returns the holder of the notes of a queue whose actor starts.
func (c *charge) renew() *budget.Holder {
	c.notes.Close()
	c.notes = c.holder.Notes()
	return c.notes
}

// holder returns what pays for the definitions of a user; "" is the broker itself.
func (s *shared) holder(user string) *budget.Holder {
	h := s.holders[user]
	if h == nil {
		h = s.cfg.Objects.Definitions(user, s.vhost)
		s.holders[user] = h
	}
	return h
}

// userOf returns the user who gives a command, "" for the broker.
func userOf(by *events.Origin) string {
	if by == nil {
		return ""
	}
	return by.User
}

// room returns why the user has no room for a definition (PRO-21); what says which.
func (s *shared) room(by *events.Origin, bytes int64, what string, args ...any) error {
	if err := s.holder(userOf(by)).Room(bytes); err != nil {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot %s: %v", fmt.Sprintf(what, args...), err)
	}
	return nil
}

func queueMemory(name string, args protocol.Table) int64 {
	return budget.PriceQueue + int64(len(name)) + args.Memory()
}

func exchangeMemory(name string, args protocol.Table) int64 {
	return budget.PriceExchange + int64(len(name)) + args.Memory()
}

// underWay counts a binding until its exchange counts it: then the returned function is called.
func (s *shared) underWay(b *topology.Binding) (counted func()) {
	h, bytes := s.holder(b.User), bindingMemory(*b)
	h.Hold(bytes)
	return func() { h.Hold(-bytes) }
}

func bindingMemory(b topology.Binding) int64 { return budget.PriceBinding + b.Memory() }
