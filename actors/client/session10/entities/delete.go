package entities

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// delete deletes messages that no receiver holds, and answers with their number.
func (a *asked) delete(q *topology.Queue) {
	limit, before, ok := a.Deletion(mail.MaxDeleted)
	if !ok {
		a.answer(400, "message-count must be 1 to 4,000, and enqueued-time-utc must be a timestamp", amqp10.InvalidField, nil)
		return
	}
	a.Send(q.PID, &mail.DeleteMessages{
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			n := reply.(*mail.DeleteMessagesReply).Count
			if n == 0 {
				a.answer(204, "No Content", "", nil)
				return
			}
			a.answer(200, "OK", "", amqp10.Map{{Key: servicebus.MessageCount, Value: int32(n)}})
		}),
		Limit: limit, Before: before, Session: a.session(), Link: a.Text("associated-link-name"), Connection: a.Connection, Queue: q.Name, VHost: a.vhost(),
	})
}
