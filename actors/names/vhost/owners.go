package vhost

import "candlemark/actors/system/mail"

// owners are the connections with exclusive queues, by actor id. They are watched, so that a connection that fails also
// releases its queues.
type owners map[string]map[*queue]struct{}

// add records the owner of a queue, if it has one.
func (s owners) add(q *queue, out *effects) {
	pid := q.queue.Owner
	if pid == nil {
		return
	}
	if s[pid.GetId()] == nil {
		s[pid.GetId()] = map[*queue]struct{}{}
		out.add(watching{pid})
	}
	s[pid.GetId()][q] = struct{}{}
}

// remove is called when a queue has been deleted.
func (s owners) remove(q *queue, out *effects) {
	pid := q.queue.Owner
	if pid == nil {
		return
	}
	delete(s[pid.GetId()], q)
	if len(s[pid.GetId()]) == 0 {
		delete(s, pid.GetId())
		out.add(unwatching{pid})
	}
}

func (qs *queues) releaseConnection(m *mail.ReleaseConnection) {
	qs.release(m.Connection, func() { qs.out.reply(m.Request, &mail.ReleaseConnectionReply{Reply: m.Done(nil)}) })
}

// release ends the exclusive queues of a connection and calls done when they are
// forgotten.
func (qs *queues) release(connection mail.Address, done func()) {
	g := newBarrier(done)
	for q := range qs.owners[connection.GetId()] {
		if q.queue.Ending != "" { // its messages arrive without the connection
			continue
		}
		g.begin()
		qs.deleteAnyway(q, mail.Request{}, g.end)
	}
	g.end()
}
