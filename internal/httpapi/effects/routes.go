package effects

import (
	"encoding/json"

	"candlemark/internal/auth"
	"candlemark/internal/httpapi/rest"
	"candlemark/internal/plainjson"
)

// Routes are about what policies do. They are our own: other brokers do not have them.
var Routes = []rest.Route{
	rest.Get("/api/x/queues/{vhost}/{name}/policy", policymaker, does(explain, "queue")),
	rest.Get("/api/x/exchanges/{vhost}/{name}/policy", policymaker, does(explain, "exchange")),
}

var policymaker = rest.Into(rest.Changer(auth.Policies))

// does carries out an operation about what the name in the path is.
func does(do operation, name string) rest.Handler {
	return func(r *rest.Request) (any, error) {
		a := &asked{by: r.User, vhost: r.VHost, fields: map[string]json.RawMessage{name: plainjson.Marshal(r.Name)}}
		v, err := do(r.Context(), r.Broker, a)
		return v, declined(err)
	}
}
