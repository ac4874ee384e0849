package accounts

import (
	"encoding/json"
	"errors"
	"slices"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/policies"
)

// policiesOf returns the policies of the virtual host and name in the path, if any, that the user may see (POL-13).
func policiesOf(operator bool) rest.Resource[*policies.Policy] {
	return rest.Resource[*policies.Policy]{Items: func(r *rest.Request) ([]*policies.Policy, error) {
		all, err := r.Broker.ListPolicies(r.Context(), r.VHost, operator)
		all = slices.DeleteFunc(all, func(p *policies.Policy) bool {
			return r.Name != "" && p.Name != r.Name || !r.Sees(p.VHost)
		})
		return append([]*policies.Policy{}, all...), err
	}}
}

// setPolicy stores a policy: 201 if it is new, 204 if it replaces one (POL-12).
func setPolicy(operator bool) func(*rest.Request) (bool, error) {
	return func(r *rest.Request) (bool, error) {
		body, err := r.Raw()
		if err != nil {
			return false, err
		}
		return storePolicy(r, operator, body)
	}
}

func storePolicy(r *rest.Request, operator bool, written json.RawMessage) (created bool, err error) {
	p, err := policies.Parse(r.VHost, r.Name, operator, written)
	if err != nil {
		var wrong *policies.ValidationError
		if errors.As(err, &wrong) { // POL-14
			return false, rest.Complaint(wrong.Reason())
		}
		return false, rest.Complaint(err.Error())
	}
	replaced, err := r.Broker.SetPolicy(r.Context(), p)
	var full *policies.ValidationError
	if errors.As(err, &full) {
		err = rest.Complaint(full.Reason())
	}
	return !replaced, err
}

// clearPolicy removes a policy: 204, or 404 if there is none (POL-12).
func clearPolicy(operator bool) func(*rest.Request) (bool, error) {
	return func(r *rest.Request) (bool, error) {
		return r.Broker.ClearPolicy(r.Context(), r.VHost, r.Name, operator)
	}
}
