package entities

import (
	"errors"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// Grant adds the locked session and the end of its lock to the answer to an attach; it adds nothing if got is nil.
func Grant(answer, m *amqp10.Attach, got *mail.SessionLocked) {
	if got != nil {
		answer.Source.Filter = servicebus.SessionFilter(m.Source.Filter, got.ID)
		answer.Properties = servicebus.LockedUntil(got.Until)
	}
}

// ErrorOf does the same as dialect.ErrorOf, but with the conditions of Azure Service Bus for errors about sessions.
func ErrorOf(err error) *amqp10.Error {
	for _, known := range [...]struct {
		err       error
		condition amqp10.Symbol
	}{
		{mail.ErrSessionTaken, servicebus.SessionTaken},
		{mail.ErrSessionLost, servicebus.SessionLost},
		{mail.ErrNoSession, servicebus.Timeout},
		{mail.ErrSessionsFull, amqp10.ResourceLimitExceeded},
		{mail.ErrSessionState, amqp10.InvalidField},
		{mail.ErrSessionID, amqp10.InvalidField},
		{mail.ErrNoSessions, amqp10.NotAllowed},
		{mail.ErrSessionNeeded, amqp10.NotAllowed},
	} {
		if errors.Is(err, known.err) {
			return &amqp10.Error{Condition: known.condition, Description: err.Error()}
		}
	}
	var stays *mail.NotDeadLettered
	if errors.As(err, &stays) {
		return &amqp10.Error{Condition: amqp10.NotAllowed, Description: stays.Error()}
	}
	return dialect.ErrorOf(err)
}

// RefusedLink is ErrorOf for a link that is not attached. A message link to a queue with sessions, or a session link to
// a queue without, is refused in Service Bus's words.
func RefusedLink(err error) *amqp10.Error {
	switch {
	case errors.Is(err, mail.ErrSessionNeeded):
		return amqp10.Errorf(amqp10.NotAllowed, "It is not possible for an entity that requires sessions to create a non-sessionful message receiver.")
	case errors.Is(err, mail.ErrNoSessions):
		return amqp10.Errorf(amqp10.NotAllowed, "A sessionful message receiver cannot be created on an entity that does not require sessions.")
	}
	return ErrorOf(err)
}

// Cancelled returns why a queue has ended a consumer. there is set if the queue still exists.
func Cancelled(m *mail.ConsumerCancelled, queue, vhost string, there bool) error {
	switch {
	case m.Lost:
		return mail.ErrSessionLost
	case there:
		return TimedOut(queue)
	}
	return Deleted(queue, vhost)
}

// TimedOut returns the error for a consumer that its queue has cancelled.
func TimedOut(queue string) error {
	return amqp10.Errorf(amqp10.DetachForced, "the consumer of queue '%s' was cancelled", queue)
}

// Deleted returns the error for a deleted queue.
func Deleted(queue, vhost string) error {
	return amqp10.Errorf(amqp10.ResourceDeleted, "queue '%s' in vhost '%s' was deleted", queue, vhost)
}

// session returns the session id in a request, nil if there is none.
func (a *asked) session() *string {
	if id, is := a.Field("session-id").(string); is {
		return &id
	}
	return nil
}

// useSession renews the lock of a session, or reads or stores its state.
func (a *asked) useSession(q *topology.Queue) {
	id := a.session()
	state, is := a.Field("session-state").([]byte)
	set := a.Operation == servicebus.SetSessionState
	if id == nil || set && !is && a.Field("session-state") != nil {
		a.answer(400, "session-id is required, and session-state must be binary", amqp10.InvalidField, nil)
		return
	}
	if len(state) == 0 { // the client for Go deletes the state this way
		state = nil
	}
	a.Send(q.PID, &mail.UseSession{
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			used := reply.(*mail.UseSessionReply)
			switch a.Operation {
			case servicebus.RenewSession:
				a.answer(200, "OK", "", amqp10.Map{{Key: "expiration", Value: amqp10.Timestamp(used.Until)}})
			case servicebus.SessionState:
				body := amqp10.Map{{Key: "session-state", Value: nil}}
				if used.State != nil {
					body[0].Value = used.State
				}
				a.answer(200, "OK", "", body)
			default:
				a.answer(200, "OK", "", nil)
			}
		}),
		ID: *id, Connection: a.Connection, Renew: a.Operation == servicebus.RenewSession, Set: set, State: state, Queue: q.Name, VHost: a.vhost(),
	})
}

// listSessions answers with ids of sessions.
func (a *asked) listSessions(q *topology.Queue) {
	since, _ := a.Field("last-updated-time").(amqp10.Timestamp)
	skip, _ := a.Field("skip").(int32)
	top, _ := a.Field("top").(int32)
	if since >= servicebus.AllSessions {
		since = 0
	} else {
		since = max(since, 1)
	}
	a.Send(q.PID, &mail.ListSessions{
		Request: a.Ask(func(reply any, err error) {
			if err != nil {
				a.failed(err)
				return
			}
			ids := amqp10.Array{Of: amqp10.TypeString}
			for _, id := range reply.(*mail.SessionList).IDs {
				ids.Values = append(ids.Values, id)
			}
			if len(ids.Values) == 0 {
				a.answer(204, "No Content", "", nil)
				return
			}
			a.answer(200, "OK", "", amqp10.Map{{Key: "skip", Value: skip + int32(len(ids.Values))}, {Key: "sessions-ids", Value: ids}})
		}),
		Since: int64(since), Skip: int(skip), Limit: int(top), Queue: q.Name, VHost: a.vhost(),
	})
}
