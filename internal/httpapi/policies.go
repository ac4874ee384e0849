package httpapi

import (
	"encoding/json"
	"errors"
	"slices"

	"candlemark/policies"
)

// policiesOf are those of the virtual host and name of the path, if it names any, that
// the user may see (POL-13).
func policiesOf(operator bool) resource[*policies.Policy] {
	return resource[*policies.Policy]{items: func(r *request) ([]*policies.Policy, error) {
		all, err := r.broker.ListPolicies(r.Context(), r.vhost, operator)
		all = slices.DeleteFunc(all, func(p *policies.Policy) bool {
			return r.name != "" && p.Name != r.name || !r.sees(p.VHost)
		})
		return append([]*policies.Policy{}, all...), err
	}}
}

// setPolicy stores one: 201 if it is new, 204 if it replaces one (POL-12).
func setPolicy(operator bool) func(*request) (bool, error) {
	return func(r *request) (bool, error) {
		body, err := r.raw()
		if err != nil {
			return false, err
		}
		return storePolicy(r, operator, body)
	}
}

func storePolicy(r *request, operator bool, written json.RawMessage) (created bool, err error) {
	p, err := policies.Parse(r.vhost, r.name, operator, written)
	if err != nil {
		var wrong *policies.ValidationError
		if errors.As(err, &wrong) { // POL-14
			return false, complaint(wrong.Reason())
		}
		return false, complaint(err.Error())
	}
	replaced, err := r.broker.SetPolicy(r.Context(), p)
	return !replaced, err
}

// clearPolicy removes one: 204, or 404 if there is none (POL-12).
func clearPolicy(operator bool) func(*request) (bool, error) {
	return func(r *request) (bool, error) { return r.broker.ClearPolicy(r.Context(), r.vhost, r.name, operator) }
}
