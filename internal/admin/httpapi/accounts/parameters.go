package accounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
)

// Components with parameters; RabbitMQ's plugins are in package parameters.
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

// listed are the parameters of the component, virtual host and name in the path, if any. Operator policies and the
// limits of virtual hosts are shown as parameters, as in RabbitMQ; policies are not.
var listed = rest.Resource[parameterItem]{Items: parametersOf, Name: func(i *parameterItem) string { return i.Name }}

func parametersOf(r *rest.Request) ([]parameterItem, error) {
	items, component := []parameterItem{}, r.Part("component")
	if component == "" || component == operatorPolicies {
		list, err := r.Broker.ListPolicies(r.Context(), r.VHost, true)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			items = append(items, parameterItem{policyValue{p.Pattern, p.Definition, p.Priority, p.ApplyTo}, p.VHost, operatorPolicies, p.Name})
		}
	}
	if component == "" || component == vhostLimits {
		for _, v := range r.Users.VHosts() {
			if len(v.Limits) > 0 && (r.VHost == "" || r.VHost == v.Name) {
				items = append(items, parameterItem{v.Limits, v.Name, vhostLimits, limitsName})
			}
		}
	}
	for _, p := range r.Broker.Parameters(r.VHost) {
		if component == "" || component == p.Component {
			if p.Component == parameters.Schedule && !r.Monitors() && !mayConfigure(r, p.VHost, p.Name) {
				p.Value = parameters.WithoutMessage(p.Value)
			}
			items = append(items, parameterItem{p.Value, p.VHost, p.Component, p.Name})
		}
	}
	return slices.DeleteFunc(items, func(i parameterItem) bool {
		return r.Name != "" && i.Name != r.Name || !r.Sees(i.VHost)
	}), nil
}

// mayConfigure reports whether the user may configure a schedule (REC-12).
func mayConfigure(r *rest.Request, vhost, schedule string) bool {
	return r.Users.Check(r.User, vhost, auth.Resource{Kind: auth.Queue, Name: schedule}, auth.Configure) == nil
}

func putParameter(r *rest.Request) (created bool, err error) {
	b := r.JSON("value")
	if b.Err != nil {
		return false, b.Err
	}
	switch component := r.Part("component"); {
	case component == operatorPolicies:
		return storePolicy(r, true, b.Fields["value"])
	case component == vhostLimits && r.Name == limitsName:
		limits, err := auth.ParseVHostLimits(b.Fields["value"])
		if err != nil {
			return false, rest.Invalid(err)
		}
		err = setVHostLimits(r, func(before auth.Limits) auth.Limits {
			created = len(before) == 0
			return limits
		})
		return created, err
	case component == "policy":
		return false, rest.Complaint("policies may not be set using this method")
	case parameters.Known(component):
		return putComponent(r, parameters.Parameter{Component: component, VHost: r.VHost, Name: r.Name, Value: b.Fields["value"]})
	default:
		return false, rest.Invalid(parameters.NotFound(component))
	}
}

// putComponent stores a parameter of a component, which the user of the request has set. It refuses addresses of this
// broker that the user may not use, as the broker does when a shovel connects (ACC-1).
func putComponent(r *rest.Request, p parameters.Parameter) (created bool, err error) {
	p.Setter.User = r.User.Name
	err = parameters.Validate(p.Component, p.Name, p.Value, func(u *parameters.URI) error {
		if _, there := r.Users.VHost(u.VHost); !there || r.Users.VHostAccess(r.User, u.VHost) != nil {
			return fmt.Errorf("user %q may not connect to vhost %q", r.User.Name, u.VHost)
		}
		if !u.NoLogin && !u.HasPassword && u.User != r.User.Name && !r.User.HasTag("administrator") {
			return fmt.Errorf("user %q may not connect as user %q without a password", r.User.Name, u.User)
		}
		return nil
	})
	if err == nil {
		created, err = r.Broker.PutParameter(r.Context(), p)
	}
	if errors.As(err, new(parameters.Refusal)) {
		err = rest.Invalid(err)
	}
	return created, rest.Declined(err)
}

func deleteParameter(r *rest.Request) (bool, error) {
	item, err := listed.Find(r)
	switch {
	case err != nil:
		return false, err
	case item.Component == operatorPolicies:
		return r.Broker.ClearPolicy(r.Context(), r.VHost, r.Name, true)
	}
	if item.Component == parameters.Schedule {
		found, err := r.Broker.DeleteSchedule(r.Context(), r.User, item.VHost, item.Name)
		return found, rest.Declined(err)
	}
	if parameters.Known(item.Component) {
		return r.Broker.DeleteParameter(r.Context(), parameters.Parameter{Component: item.Component, VHost: item.VHost, Name: item.Name})
	}
	return true, setVHostLimits(r, func(auth.Limits) auth.Limits { return auth.Limits{} })
}

// globals are all global parameters, or the one that the path names.
var globals = rest.Resource[globalItem]{
	Items: func(r *rest.Request) ([]globalItem, error) {
		items, all := []globalItem{}, r.Broker.Globals()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if r.Name == "" || r.Name == name {
				items = append(items, globalItem{name, all[name]})
			}
		}
		return items, nil
	},
	Name: func(i *globalItem) string { return i.Name },
}

func putGlobal(r *rest.Request) (bool, error) {
	b := r.JSON("value")
	if b.Err != nil {
		return false, b.Err
	}
	created, err := r.Broker.PutGlobal(r.Context(), r.Name, b.Fields["value"])
	return created, rest.Invalid(err)
}

func deleteGlobal(r *rest.Request) (bool, error) { return r.Broker.DeleteGlobal(r.Context(), r.Name) }

// putClusterName sets the name of the cluster, a global parameter.
func putClusterName(r *rest.Request) (any, error) {
	b := r.JSON("name")
	if b.Text("name"); b.Err != nil {
		return nil, b.Err
	}
	_, err := r.Broker.PutGlobal(r.Context(), management.ClusterName, b.Fields["name"])
	return nil, rest.Invalid(err)
}

// clusterName returns the name of the cluster.
func clusterName(r *rest.Request) (any, error) {
	o, err := r.Broker.Overview(r.Context())
	return map[string]string{"name": o.ClusterName}, err
}

// parameterChanger allows users that may change the parameter in the path. Users that may change some parameters get a
// 404 for one that does not exist.
func parameterChanger(r *rest.Request) error {
	s := auth.Setting(r.Part("component"))
	if s == auth.OperatorPolicies || s == auth.VHostLimits {
		return rest.Changer(s)(r)
	}
	return rest.Policymaker(r)
}
