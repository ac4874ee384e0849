package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"candlemark/protocol"
)

// operation is something to be done about messages, over HTTP or AMQP.
type operation func(ctx context.Context, b Messages, by Asker, at Place, w params) (any, error)

// notFoundError is what is told about something that is not there.
type notFoundError string

// Error implements error.
func (a notFoundError) Error() string { return string(a) }

// messagePaths are our own: other brokers do not have them.
func (a *api) messagePaths(mux *http.ServeMux) {
	queue, exchange := "/api/x/queues/{vhost}/{name}", "/api/x/exchanges/{vhost}/{name}"
	mux.Handle(queue+"/messages", methods{"GET": a.guard(visitor, a.does(peek, false))})
	mux.Handle(queue+"/unacked", methods{"GET": a.guard(visitor, a.does(unacked, false))})
	mux.Handle(queue+"/unacked/{id}/renew", methods{"POST": a.guard(visitor, a.does(renew, false))})
	for path, isExchange := range map[string]bool{queue: false, exchange: true} {
		do := func(d operation) http.Handler { return a.guard(visitor, a.does(d, isExchange)) }
		path += "/scheduled"
		mux.Handle(path, methods{"GET": do(listScheduled), "PUT": do(reschedule), "DELETE": do(cancelScheduled)})
		mux.Handle(path+"/counts", methods{"GET": do(countScheduled)})
		mux.Handle(path+"/{id}", methods{"PUT": do(reschedule), "DELETE": do(cancelScheduled)})
	}
}

// does carries out an operation at the queue or exchange of the path, as its query, its body
// and the id in it say.
func (a *api) does(d operation, exchange bool) func(*request) {
	return func(r *request) {
		w := fromQuery(r.URL.Query())
		if r.Method == http.MethodPut {
			object, ok := r.body(maxBody)
			if !ok {
				return
			}
			for name, value := range fromObject(object) {
				w[name] = value
			}
		}
		if id := r.part("id"); id != "" {
			w["id"] = id
		}
		place := Place{VHost: r.vhost, Name: r.name, Exchange: exchange}
		if exchange {
			place.Name = exchangeNamed(r.name)
		}
		v, err := d(r.Context(), a.broker, Asker{User: r.user}, place, w)
		var missing notFoundError
		var wrong complaint
		switch {
		case errors.As(err, &missing):
			fail(r.w, http.StatusNotFound, "not_found", err.Error())
		case errors.As(err, &wrong):
			fail(r.w, http.StatusBadRequest, "bad_request", err.Error())
		case err != nil:
			a.declineMessage(r, err)
		default:
			answer(r.w, http.StatusOK, v)
		}
	}
}

// operations by their AMQP routing keys.
var operations = map[string]operation{
	"queue.peek": peek, "queue.unacked": unacked, "lock.renew": renew,
	"scheduled.list": listScheduled, "scheduled.count": countScheduled, "scheduled.cancel": cancelScheduled, "scheduled.reschedule": reschedule,
}

// Command carries out what somebody has asked for over AMQP, with a routing key. What it
// returns writes the answer as JSON: that of the HTTP API and "ok", or its error. That
// may take some 20 MiB and 20 ms, so it is for the caller to say when.
func Command(ctx context.Context, b Messages, by Asker, vhost, key string, body []byte) func() []byte {
	v, no := command(ctx, b, by, vhost, key, body)
	if no != nil {
		return func() []byte { return encode(no) }
	}
	return func() []byte {
		const ok = `{"ok":true`
		answer := encodeBehind(ok, v)
		answer[len(ok)] = ',' // in place of the brace that v begins with, without a copy
		return answer
	}
}

func command(ctx context.Context, b Messages, by Asker, vhost, key string, body []byte) (any, *failure) {
	d := operations[key]
	if d == nil {
		return nil, &failure{"not_found", "no command '" + key + "'"}
	}
	object := map[string]json.RawMessage{}
	if body = bytes.TrimSpace(body); len(body) > 0 && json.Unmarshal(body, &object) != nil {
		return nil, &failure{"bad_request", "not_json"}
	}
	w := fromObject(object)
	at := Place{VHost: vhost, Name: w["queue"]}
	name, exchange := w["exchange"]
	switch _, queue := w["queue"]; {
	case w["vhost"] != "" && w["vhost"] != vhost:
		return nil, &failure{"not_authorised", "this exchange is for vhost '" + vhost + "' only"}
	case exchange && !queue:
		at.Name, at.Exchange = name, true
	case !queue && w["delivery_tag"] == "":
		return nil, &failure{"bad_request", "[{key_missing,queue}]"}
	}
	v, err := d(ctx, b, by, at, w)
	if err != nil {
		return nil, refused(err)
	}
	return v, nil
}

// refused is the form of an error over AMQP, in the words of declineMessage.
func refused(err error) *failure {
	var missing notFoundError
	var wrong complaint
	code, text, ok := told(err)
	switch {
	case errors.As(err, &missing):
		return &failure{"not_found", err.Error()}
	case errors.As(err, &wrong):
		return &failure{"bad_request", err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{"timeout", "the broker did not answer in time"}
	case !ok:
		return &failure{"internal_error", err.Error()}
	case code == protocol.NotFound:
		return &failure{"not_found", text}
	case code == protocol.AccessRefused || code == protocol.NotAllowed:
		return &failure{"not_authorised", text}
	}
	return &failure{"bad_request", fmt.Sprintf("%d %s", code, text)}
}
