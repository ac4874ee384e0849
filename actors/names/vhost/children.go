package vhost

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// children are the actors of queues and exchanges.
type children struct {
	known map[string]any // *queue or *exchange by the id of its PID
	// leaving holds children that were released but have not ended, by actor id, with the id of the queue whose data in
	// the journal end with the actor; 0 for none.
	leaving map[string]store.QueueID
}

// of returns the queue or exchange of an actor: nil if there is none, or the actor has ended.
func (c *children) of(pid mail.Address) any {
	if pid == nil {
		return nil
	}
	return c.known[pid.GetId()]
}

// rename replaces the key of a child with the string that the actor itself holds, to save memory.
func (c *children) rename(pid mail.Address) {
	if child := c.of(pid); child != nil {
		c.known[pid.GetId()] = child
	}
}

// forgetChild marks a child as released.
func (c *children) forgetChild(pid mail.Address, messages store.QueueID) {
	if c.of(pid) != nil {
		delete(c.known, pid.GetId())
		c.leaving[pid.GetId()] = messages
	}
}

// ended returns the queue or exchange of an actor that has ended, nil if it was released, and the id of the queue
// whose messages end with it.
func (c *children) ended(pid mail.Address) (child any, messages store.QueueID) {
	child, messages = c.known[pid.GetId()], c.leaving[pid.GetId()]
	delete(c.known, pid.GetId())
	delete(c.leaving, pid.GetId())
	return child, messages
}
