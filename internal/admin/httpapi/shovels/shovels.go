package shovels

import (
	"encoding/json"
	"time"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/text/redact"
)

// Routes are the routes of RabbitMQ's plugins. As there, permission to see shovels is not enough to end them; a user
// also needs permission to set them.
var Routes = []rest.Route{
	rest.Get("/api/shovels", rest.Monitor, shovels.List),
	rest.Get("/api/shovels/{vhost}", rest.InVHost(rest.Monitor), shovels.List),
	rest.Get("/api/shovels/vhost/{vhost}/{name}", rest.InVHost(rest.Monitor), shown),
	rest.Delete("/api/shovels/vhost/{vhost}/{name}", rest.InVHost(rest.Policymaker), rest.Found(end)),
	rest.Delete("/api/shovels/vhost/{vhost}/{name}/restart", rest.InVHost(rest.Policymaker), rest.Found(restart)),

	rest.Get("/api/federation-links", rest.Monitor, links.List),
	rest.Get("/api/federation-links/{vhost}", rest.InVHost(rest.Monitor), links.List),
	rest.Get("/api/federation-links/state/down", rest.Monitor, links.List),
	rest.Get("/api/federation-links/{vhost}/state/down", rest.InVHost(rest.Monitor), links.List),
	rest.Delete("/api/federation-links/vhost/{vhost}/{id}/{node}/restart", rest.InVHost(rest.Policymaker), func(*rest.Request) (any, error) {
		return nil, rest.ErrNotFound
	}),
}

// item is the JSON form of a shovel.
type item struct {
	Node      string `json:"node"`
	Timestamp string `json:"timestamp"`
	Name      string `json:"name"`
	VHost     string `json:"vhost"`
	Type      string `json:"type"`
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"`
	// User has set the shovel, whose rights it has: null for the operator's settings, and if that is not known.
	User *string `json:"user_who_performed_action"`
	*running
}

// running has the fields that only a running shovel shows. The numbers are as in RabbitMQ 4.1.
type running struct {
	From             string `json:"src_uri"`
	FromProtocol     string `json:"src_protocol"`
	ToProtocol       string `json:"dest_protocol"`
	To               string `json:"dest_uri"`
	Queue            string `json:"src_queue,omitempty"`
	Exchange         string `json:"src_exchange,omitempty"`
	Key              string `json:"src_exchange_key,omitempty"`
	ToQueue          string `json:"dest_queue,omitempty"`
	ToExchange       string `json:"dest_exchange,omitempty"`
	ToKey            string `json:"dest_exchange_key,omitempty"`
	Blocked          string `json:"blocked_status"`
	Forwarded        int64  `json:"forwarded"`
	Pending          int64  `json:"pending"`
	Remaining        any    `json:"remaining"`
	RemainingUnacked any    `json:"remaining_unacked"`
}

var shovels = rest.Resource[item]{
	Items: func(r *rest.Request) ([]item, error) {
		return rest.Forms(r.Broker.ListShovels(r.VHost), rest.All, func(s *management.Shovel) item { return form(r.Node, s) }), nil
	},
	Name: func(i *item) string { return i.Name },
}

func form(node string, s *management.Shovel) item {
	i := item{
		Node: node, Timestamp: time.UnixMilli(s.Since).Format(time.DateTime), Name: s.Name, VHost: s.VHost, Type: "dynamic", State: s.State,
		Reason: s.Reason, User: forms.OrNull(s.Setter.User),
	}
	if s.From == "" || s.Work == nil {
		return i
	}
	from, to := &s.Work.From, &s.Work.To
	i.running = &running{
		From: s.From, FromProtocol: "amqp091", To: s.To, ToProtocol: "amqp091", Queue: from.Queue, Exchange: from.Exchange, Key: from.Key,
		ToQueue: to.Queue, Blocked: s.State, Forwarded: s.Forwarded, Pending: s.Pending, Remaining: left(s.ToMove), RemainingUnacked: left(s.ToTake),
	}
	if to.Exchange != nil {
		i.ToExchange = *to.Exchange
	}
	if to.Key != nil {
		i.ToKey = *to.Key
	}
	return i
}

// left returns a number of messages, negative for any.
func left(n int64) any {
	if n < 0 {
		return "unlimited"
	}
	return n
}

// parameter is the JSON form of what made a shovel.
type parameter struct {
	Value     any    `json:"value"`
	VHost     string `json:"vhost"`
	Component string `json:"component"`
	Name      string `json:"name"`
}

// shown answers with the parameter of a shovel, without its secrets: who monitors need not know them.
func shown(r *rest.Request) (any, error) {
	p, err := find(r)
	if err != nil {
		return nil, err
	}
	return parameter{json.RawMessage(redact.JSON(p.Value)), p.VHost, p.Component, p.Name}, nil
}

func find(r *rest.Request) (*parameters.Parameter, error) {
	return rest.Find(r.Broker.Parameters(r.VHost), nil, func(p *parameters.Parameter) bool {
		return p.Component == parameters.Shovel && p.Name == r.Name
	})
}

func end(r *rest.Request) (bool, error) {
	return r.Broker.DeleteParameter(r.Context(), parameters.Parameter{Component: parameters.Shovel, VHost: r.VHost, Name: r.Name})
}

func restart(r *rest.Request) (bool, error) {
	return r.Broker.RestartShovel(r.Context(), r.VHost, r.Name)
}
