package messages

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// operation is a request about messages, over HTTP or AMQP.
type operation func(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error)

// does executes an operation on the queue or exchange of the path, with the parameters from query, body and path.
func does(d operation, exchange bool) rest.Handler {
	return func(r *rest.Request) (any, error) {
		w, err := fromQuery(r.URL.Query())
		if err != nil {
			return nil, err
		}
		if r.Method == http.MethodPut {
			b := r.JSON()
			if b.Err != nil {
				return nil, b.Err
			}
			maps.Copy(w, fromObject(b.Fields))
		}
		w.put("id", r.Part("id"))
		place := management.Place{VHost: r.VHost, Name: r.Name, Exchange: exchange}
		if exchange {
			place.Name = rest.ExchangeNamed(r.Name)
		}
		v, err := d(r.Context(), r.Broker, management.Asker{User: r.User}, place, w)
		return v, declinedMessage(err)
	}
}

// operations by their AMQP routing keys.
var operations = map[string]operation{
	"queue.peek": peek, "queue.expirations": expirations, "queue.unacked": unacked, "lock.renew": renew, "lock.return": giveBack,
	"scheduled.list": listScheduled, "scheduled.count": countScheduled, "scheduled.cancel": cancelScheduled, "scheduled.reschedule": reschedule,
	"queue.pause": pauseQueue, "queue.resume": resumeQueue,
}

// Command executes an admin command that came over AMQP with a routing key. The result writes the reply as JSON
// (rest.ForAMQP).
func Command(ctx context.Context, b management.Messages, by management.Asker, vhost, key string, body []byte) func() []byte {
	v, err := command(ctx, b, by, vhost, key, body)
	if code, text := rest.ProtocolError(err); code == protocol.NotAllowed {
		err = rest.Unauthorised(text)
	}
	return rest.ForAMQP(v, declinedMessage(err))
}

func command(ctx context.Context, b management.Messages, by management.Asker, vhost, key string, body []byte) (any, error) {
	d := operations[key]
	if d == nil {
		return nil, rest.Nonexistent("unknown command '" + key + "'")
	}
	object := map[string]json.RawMessage{}
	if body = bytes.TrimSpace(body); len(body) > 0 && json.Unmarshal(body, &object) != nil {
		return nil, rest.Complaint("not_json")
	}
	w := fromObject(object)
	at := management.Place{VHost: vhost, Name: w["queue"]}
	name, exchange := w["exchange"]
	switch _, queue := w["queue"]; {
	case w["vhost"] != "" && w["vhost"] != vhost:
		return nil, rest.Unauthorised("this exchange accepts only commands about vhost '" + vhost + "'")
	case exchange && !queue:
		at.Name, at.Exchange = name, true
	case !queue && w["delivery_tag"] == "":
		return nil, rest.Complaint("[{key_missing,queue}]")
	}
	return d(ctx, b, by, at, w)
}

// declinedMessage is rest.Declined for requests that move messages, where RabbitMQ shows the whole text.
func declinedMessage(err error) error {
	code, text := rest.ProtocolError(err)
	switch code {
	case 0:
		return err
	case protocol.NotFound:
		return rest.Nonexistent(text)
	case protocol.AccessRefused:
		return rest.Unauthorised(text)
	case protocol.NotAllowed:
		return rest.Unauthorised("Access refused.")
	}
	return rest.Complaintf("%d %s", code, text)
}
