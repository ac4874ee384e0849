package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/store"
)

// children are the actors of queues and exchanges.
type children struct {
	known map[string]any // *queue or *exchange by the id of its PID
	// leaving were let go and have not ended, by the id of the PID: with them ends what
	// the journal has of a durable queue, 0 for none.
	leaving map[string]store.QueueID
}

// of is who lives in an actor: nil for none, or one that has died.
func (c *children) of(pid mail.Address) any {
	if pid == nil {
		return nil
	}
	return c.known[pid.Id]
}

// rename has a child known by the string that the actor itself has, which is kept anyway.
func (c *children) rename(pid mail.Address) {
	if child := c.of(pid); child != nil {
		c.known[pid.Id] = child
	}
}

// letGo notes that a child is no longer needed and ends.
func (c *children) letGo(pid mail.Address, messages store.QueueID) {
	if c.of(pid) != nil {
		delete(c.known, pid.Id)
		c.leaving[pid.Id] = messages
	}
}

// ended tells who lived in an actor that has ended, nil for nobody who was needed,
// and of which queue the messages end with it.
func (c *children) ended(pid mail.Address) (child any, messages store.QueueID) {
	child, messages = c.known[pid.Id], c.leaving[pid.Id]
	delete(c.known, pid.Id)
	delete(c.leaving, pid.Id)
	return child, messages
}
