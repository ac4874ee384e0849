package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"candlemark/internal/plainjson"
	"candlemark/protocol"
)

// operation is something to be done about messages, over HTTP or AMQP.
type operation func(ctx context.Context, b Messages, by Asker, at Place, w params) (any, error)

// does carries out an operation at the queue or exchange of the path, as its query, its body
// and the id in it say.
func does(d operation, exchange bool) handler {
	return func(r *request) (any, error) {
		w := fromQuery(r.URL.Query())
		if r.Method == http.MethodPut {
			b, err := r.json()
			if err != nil {
				return nil, err
			}
			maps.Copy(w, fromObject(b.fields))
		}
		w.put("id", r.part("id"))
		place := Place{VHost: r.vhost, Name: r.name, Exchange: exchange}
		if exchange {
			place.Name = exchangeNamed(r.name)
		}
		v, err := d(r.Context(), r.broker, Asker{User: r.user}, place, w)
		return v, declinedMessage(err)
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
	v, err := command(ctx, b, by, vhost, key, body)
	if err != nil {
		if code, text := protocolError(err); code == protocol.NotAllowed {
			err = unauthorised(text)
		}
		_, no := statusOf(declinedMessage(err))
		return func() []byte { return plainjson.Marshal(no) }
	}
	return func() []byte {
		const ok = `{"ok":true`
		answer := plainjson.Append([]byte(ok), form(v))
		answer[len(ok)] = ',' // in place of the brace that v begins with, without a copy
		return answer
	}
}

func command(ctx context.Context, b Messages, by Asker, vhost, key string, body []byte) (any, error) {
	d := operations[key]
	if d == nil {
		return nil, nonexistent("no command '" + key + "'")
	}
	object := map[string]json.RawMessage{}
	if body = bytes.TrimSpace(body); len(body) > 0 && json.Unmarshal(body, &object) != nil {
		return nil, complaint("not_json")
	}
	w := fromObject(object)
	at := Place{VHost: vhost, Name: w["queue"]}
	name, exchange := w["exchange"]
	switch _, queue := w["queue"]; {
	case w["vhost"] != "" && w["vhost"] != vhost:
		return nil, unauthorised("this exchange is for vhost '" + vhost + "' only")
	case exchange && !queue:
		at.Name, at.Exchange = name, true
	case !queue && w["delivery_tag"] == "":
		return nil, complaint("[{key_missing,queue}]")
	}
	return d(ctx, b, by, at, w)
}

// declinedMessage is declined for what moves messages, where RabbitMQ shows the whole text.
func declinedMessage(err error) error {
	code, text := protocolError(err)
	switch code {
	case 0:
		return err
	case protocol.NotFound:
		return nonexistent(text)
	case protocol.AccessRefused:
		return unauthorised(text)
	case protocol.NotAllowed:
		return unauthorised("Access refused.")
	}
	return complaintf("%d %s", code, text)
}
