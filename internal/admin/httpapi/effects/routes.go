package effects

import (
	"encoding/json"
	"net/http"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/text/jsonencode"
)

// Routes are about what policies do. Other brokers do not have them.
var Routes = []rest.Route{
	rest.Get("/api/x/queues/{vhost}/{name}/policy", maker(false), does(explain, false, "queue")),
	rest.Get("/api/x/exchanges/{vhost}/{name}/policy", maker(false), does(explain, false, "exchange")),
	rest.Post("/api/x/policies/{vhost}/{name}/preview", maker(false), does(preview, false, "name")),
	rest.Post("/api/x/operator-policies/{vhost}/{name}/preview", maker(true), does(preview, true, "name")),
	rest.Get("/api/x/policy-history/{vhost}", maker(false), does(history, false, "")).Large(),
	rest.Post("/api/x/policy-history/{vhost}/{name}/undo", maker(false), does(undo, false, "id")),
}

// maker may change policies in the virtual host of the path.
func maker(operator bool) rest.Rule {
	if operator {
		return rest.ChangesVHost(rest.Changer(auth.OperatorPolicies))
	}
	return rest.ChangesVHost(rest.Changer(auth.Policies))
}

// does carries out an operation, with the body, and the name of the path as a field of it.
func does(do operation, operator bool, name string) rest.Handler {
	return func(r *rest.Request) (any, error) {
		a := &asked{by: r.User, vhost: r.VHost, operator: operator, fields: map[string]json.RawMessage{}}
		if r.Method == http.MethodPost {
			b := r.JSON()
			if b.Err != nil {
				return nil, b.Err
			}
			a.fields, a.body = b.Fields, jsonencode.Marshal(b.Fields)
		}
		if r.Name != "" {
			a.fields[name] = jsonencode.Marshal(r.Name)
		}
		v, err := do(r.Context(), r.Broker, a)
		return v, declined(err)
	}
}
