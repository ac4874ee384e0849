package definitionfile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/definitionfile/document"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	params "candlemark/internal/storage/parameters"
	"candlemark/internal/text/jsonencode"
	"candlemark/policies"
	"candlemark/protocol"
)

func headOf(o management.Overview, format string) head {
	return head{protocol.RabbitMQVersion, protocol.RabbitMQVersion, document.Product, o.ProductVersion, format}
}

func exportAll(r *rest.Request) (any, error) {
	o, err := r.Broker.Overview(r.Context())
	if err != nil {
		return nil, err
	}
	c := cluster{
		head: headOf(o, "cluster"), Name: o.ClusterName, Explanation: "Definitions of cluster '" + o.ClusterName + "'",
		Users: rest.Forms(r.Users.Accounts(), rest.All, userForm), VHosts: rest.Forms(r.Users.VHosts(), rest.All, vhostForm),
		Grants: []grant{}, Topics: []topic{}, Globals: globals(r.Broker.Globals()),
	}
	for _, g := range r.Users.Grants("", "") {
		c.Grants = append(c.Grants, grant(g))
	}
	for _, g := range r.Users.TopicGrants("", "") {
		c.Topics = append(c.Topics, topic(g))
	}
	all, of, err := within(r.Context(), r, "")
	if err != nil {
		return nil, err
	}
	c.own = takeOwn(&all, &of)
	c.Parameters, c.sections = all, of.sections()
	return pieces(r, c, &of)
}

func exportOne(r *rest.Request) (any, error) {
	if err := r.Exists(rest.Complaint("vhost_not_found")); err != nil { // not 404, as in RabbitMQ
		return nil, err
	}
	o, err := r.Broker.Overview(r.Context())
	if err != nil {
		return nil, err
	}
	v, _ := r.Users.VHost(r.VHost)
	shown := vhostForm(&v)
	s := single{
		head: headOf(o, "single_virtual_host"), Name: v.Name, Explanation: "Definitions of virtual host '" + v.Name + "'",
		Metadata: shown.Metadata, Description: shown.Description, DefaultQueueType: shown.DefaultQueueType, Limits: shown.Limits,
	}
	all, of, err := within(r.Context(), r, r.VHost)
	if err != nil {
		return nil, err
	}
	s.own = takeOwn(&all, &of)
	s.Parameters, s.sections = all, of.sections()
	return pieces(r, s, &of)
}

// sections returns the sections of an export, with places that no other text has.
func (o *objects) sections() sections {
	o.place = []byte(strconv.Quote(rand.Text()))
	return sections{o.Policies, o.place, o.place, o.place}
}

// pieces returns an export in pieces, so that it is not held as a whole.
func pieces(r *rest.Request, export any, o *objects) (any, error) {
	const each = 100 // bytes of an object, which shares names and arguments with the broker
	if err := r.Charge(each * int64(len(o.Queues)+len(o.Exchanges)+len(o.Bindings))); err != nil {
		return nil, err
	}
	attach(r)
	lists := []rest.Pieces{rest.PiecesOf(o.Queues), rest.PiecesOf(o.Exchanges), rest.PiecesOf(o.Bindings)}
	return rest.Pieces(func(yield func([]byte) bool) {
		for i, text := range bytes.Split(jsonencode.Marshal(export), o.place) {
			if !yield(text) {
				return
			}
			if i == len(lists) {
				return
			}
			for piece := range lists[i] {
				if !yield(piece) {
					return
				}
			}
		}
	}), nil
}

// fileName matches names that a client may want the file to have.
var fileName = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`)

// attach has a browser store the answer if it wants to: ?download=name.
func attach(r *rest.Request) {
	if name := r.URL.Query().Get("download"); fileName.MatchString(name) {
		r.W.Header().Set("Content-Disposition", "attachment; filename="+name)
	}
}

func userForm(a *auth.Account) user {
	u := user{a.Name, base64.StdEncoding.EncodeToString(a.Hash), a.Algorithm, a.Tags, a.Limits, a.Keys}
	if u.Limits == nil {
		u.Limits = auth.Limits{}
	}
	return u
}

func vhostForm(v *auth.VHost) vhost {
	tags, kind := append([]string{}, v.Tags...), cmp.Or(v.DefaultQueueType, "classic")
	limits := v.Limits
	if limits == nil {
		limits = auth.Limits{}
	}
	return vhost{v.Name, v.Description, limits, metadata{v.Description, tags, kind, v.Protected}, tags, kind}
}

// globals returns the global parameters that other brokers can have, too.
func globals(all map[string]json.RawMessage) []global {
	list := []global{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "internal") {
			list = append(list, global{name, all[name]})
		}
	}
	return list
}

// within lists the contents of a virtual host, of all for "".
func within(ctx context.Context, r *rest.Request, vhost string) (parameters []parameter, o objects, err error) {
	named := func(of string) string { // in items
		if vhost != "" {
			return ""
		}
		return of
	}
	parameters, o = []parameter{}, objects{Policies: []policy{}}
	for _, v := range r.Users.VHosts() {
		if len(v.Limits) > 0 && (vhost == "" || vhost == v.Name) {
			parameters = append(parameters, parameter{v.Limits, named(v.Name), string(auth.VHostLimits), "limits"})
		}
	}
	operator, err := r.Broker.ListPolicies(ctx, vhost, true)
	if err != nil {
		return nil, o, err
	}
	for _, p := range operator {
		parameters = append(parameters, parameter{policyValue{p.Pattern, p.Definition, p.Priority, p.ApplyTo}, named(p.VHost), string(auth.OperatorPolicies), p.Name})
	}
	for _, p := range r.Broker.Parameters(vhost) {
		parameters = append(parameters, parameter{exported(&p), named(p.VHost), p.Component, p.Name})
	}
	users, err := r.Broker.ListPolicies(ctx, vhost, false)
	if err != nil {
		return nil, o, err
	}
	for _, p := range users {
		o.Policies = append(o.Policies, policy{named(p.VHost), p.Name, p.Pattern, p.ApplyTo, p.Definition, p.Priority})
	}
	return parameters, o, o.fill(ctx, r.Broker, vhost, named)
}

// fill adds queues, exchanges and bindings, except the ones the broker makes itself (DEF-1).
func (o *objects) fill(ctx context.Context, broker management.Broker, vhost string, named func(string) string) error {
	queues := broker.QueueNames(vhost)
	own := map[document.Name]bool{} // queues left out of the document, and may be bound
	for i := range queues {
		q := &queues[i]
		if q.Ending {
			continue
		}
		if q.Exclusive || strings.HasPrefix(q.Name, "amq.") {
			own[document.Name{VHost: q.VHost, Name: q.Name}] = true
			continue
		}
		if policies.DeadLettersFrom(q.Arguments) == "" {
			o.Queues = append(o.Queues, queue{q.Name, named(q.VHost), q.Durable, q.AutoDelete, q.Type, forms.Object(q.Arguments)})
		}
	}
	exchanges, err := broker.Exchanges(ctx, vhost)
	if err != nil {
		return err
	}
	for i := range exchanges {
		if x := &exchanges[i]; !document.System(x.Name) {
			o.Exchanges = append(o.Exchanges, exchange{x.Name, named(x.VHost), x.Type, x.Durable, x.AutoDelete, x.Internal, forms.Object(x.Arguments)})
		}
	}
	filter := management.BindingFilter{}
	if vhost != "" {
		filter.VHost = &vhost
	}
	bindings, err := broker.Bindings(ctx, filter)
	if err != nil {
		return err
	}
	for i := range bindings {
		b := &bindings[i]
		if b.Source == "" || !b.ToExchange && own[document.Name{VHost: b.VHost, Name: b.Destination}] {
			continue
		}
		kind := "queue"
		if b.ToExchange {
			kind = "exchange"
		}
		o.Bindings = append(o.Bindings, binding{b.Source, named(b.VHost), b.Destination, kind, b.RoutingKey, forms.Object(b.Arguments)})
	}
	return nil
}

// exported returns the value of a parameter: a backfill of a schedule belongs to this broker alone.
func exported(p *params.Parameter) any {
	if p.Component == params.Schedule {
		return params.WithoutBackfill(p.Value)
	}
	return p.Value
}
