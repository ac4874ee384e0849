package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"candlemark/internal/auth"
	"candlemark/policies"
)

// The components that have parameters. Those of RabbitMQ's plugins do not exist
// here.
const (
	operatorPolicies = string(auth.OperatorPolicies)
	vhostLimits      = string(auth.VHostLimits)
	limitsName       = "limits" // the one parameter of vhost-limits
)

// The JSON forms of parameters.
type (
	parameterItem struct {
		Value     any    `json:"value"`
		VHost     string `json:"vhost"`
		Component string `json:"component"`
		Name      string `json:"name"`
	}
	globalItem struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	policyValue struct {
		Pattern    string              `json:"pattern"`
		Definition policies.Definition `json:"definition"`
		Priority   json.Number         `json:"priority"`
		ApplyTo    string              `json:"apply-to"`
	}
)

func (a *api) parameterPaths(mux *http.ServeMux) {
	mux.Handle("/api/parameters", methods{"GET": a.guard(policymaker, a.parameters)})
	mux.Handle("/api/parameters/{component}", methods{"GET": a.guard(policymaker, a.parameters)})
	mux.Handle("/api/parameters/{component}/{vhost}", methods{"GET": a.guard(policymaker, a.parameters)})
	mux.Handle("/api/parameters/{component}/{vhost}/{name}", methods{
		"GET":    a.guard(policymaker, a.parameter),
		"PUT":    a.guard(parameterChanger, a.putParameter),
		"DELETE": a.guard(parameterChanger, a.deleteParameter),
	})
	mux.Handle("/api/global-parameters", methods{"GET": a.guard(policymaker, a.globals)})
	global := changer(auth.GlobalParameters)
	mux.Handle("/api/global-parameters/{name}", methods{
		"GET":    a.guard(policymaker, a.global),
		"PUT":    a.guard(global, a.putGlobal),
		"DELETE": a.guard(global, a.deleteGlobal),
	})
}

// collect lists the parameters of the path: of its component and virtual host,
// if it names any. Operator policies and the limits of virtual hosts are shown as
// parameters, as they are some in RabbitMQ; policies are not.
func (a *api) collect(r *request) ([]parameterItem, error) {
	items, component := []parameterItem{}, r.part("component")
	if component == "" || component == operatorPolicies {
		list, err := a.broker.ListPolicies(r.Context(), r.vhost, true)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			items = append(items, parameterItem{policyValue{p.Pattern, p.Definition, p.Priority, p.ApplyTo}, p.VHost, operatorPolicies, p.Name})
		}
	}
	if component == "" || component == vhostLimits {
		for _, v := range a.users.VHosts() {
			if len(v.Limits) > 0 && (r.vhost == "" || r.vhost == v.Name) {
				items = append(items, parameterItem{v.Limits, v.Name, vhostLimits, limitsName})
			}
		}
	}
	return slices.DeleteFunc(items, func(i parameterItem) bool { return !a.sees(r.user, i.VHost) }), nil
}

func (a *api) parameters(r *request) {
	if r.vhost != "" && !a.exists(r) {
		return
	}
	items, err := a.collect(r)
	if err != nil {
		a.refuse(r, err)
		return
	}
	list(r, items, func(i *parameterItem) string { return i.Name })
}

// find is the parameter of the path; if there is none it has answered.
func (a *api) find(r *request) (parameterItem, bool) {
	items, err := a.collect(r)
	if err != nil {
		a.refuse(r, err)
		return parameterItem{}, false
	}
	i := slices.IndexFunc(items, func(i parameterItem) bool { return i.Name == r.name })
	if i < 0 {
		notFound(r.w, r.Request)
		return parameterItem{}, false
	}
	return items[i], true
}

func (a *api) parameter(r *request) {
	if item, ok := a.find(r); ok {
		one(r, item)
	}
}

func (a *api) putParameter(r *request) {
	if !a.known(r) {
		return
	}
	body, ok := r.body(maxBody)
	if !ok || bad(r, missing(body, "value")) {
		return
	}
	switch component := r.part("component"); {
	case component == operatorPolicies:
		a.putOperatorPolicy(r, body["value"])
	case component == vhostLimits && r.name == limitsName:
		limits, err := auth.ParseVHostLimits(body["value"])
		if bad(r, err) {
			return
		}
		created := false
		if a.limited(r, func(before auth.Limits) auth.Limits {
			created = len(before) == 0
			return limits
		}, a.setVHostLimits) {
			r.stored(created)
		}
	case component == "policy":
		_ = bad(r, complaint("policies may not be set using this method"))
	default:
		_ = bad(r, complaintf("Validation failed\n\ncomponent %s not found\n", component))
	}
}

func (a *api) putOperatorPolicy(r *request, value json.RawMessage) {
	p, err := policies.Parse(r.vhost, r.name, true, value)
	if err != nil {
		_ = bad(r, complaint(reason(err)))
		return
	}
	replaced, err := a.broker.SetPolicy(r.Context(), p)
	if err != nil {
		a.refuse(r, err)
		return
	}
	r.stored(!replaced)
}

func (a *api) deleteParameter(r *request) {
	item, ok := a.find(r)
	if !ok {
		return
	}
	if item.Component == operatorPolicies {
		a.clearPolicy(r, true)
		return
	}
	if a.limited(r, func(auth.Limits) auth.Limits { return auth.Limits{} }, a.setVHostLimits) {
		r.w.WriteHeader(http.StatusNoContent)
	}
}

func (a *api) globals(r *request) {
	items, all := []globalItem{}, a.broker.Globals()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		items = append(items, globalItem{name, all[name]})
	}
	list(r, items, func(i *globalItem) string { return i.Name })
}

func (a *api) global(r *request) {
	value, ok := a.broker.Globals()[r.name]
	if !ok {
		notFound(r.w, r.Request)
		return
	}
	one(r, globalItem{r.name, value})
}

func (a *api) putGlobal(r *request) {
	body, ok := r.body(maxBody)
	if !ok || bad(r, missing(body, "value")) {
		return
	}
	if created, err := a.broker.PutGlobal(r.name, body["value"]); !bad(r, err) {
		r.stored(created)
	}
}

func (a *api) deleteGlobal(r *request) {
	switch found, err := a.broker.DeleteGlobal(r.name); {
	case err != nil:
		a.refuse(r, err)
	case found:
		r.w.WriteHeader(http.StatusNoContent)
	default:
		notFound(r.w, r.Request)
	}
}
