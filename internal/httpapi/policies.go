package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"candlemark/policies"
)

// policies lists those of one virtual host, or of all that the user may see
// (POL-13).
func (a *api) policies(r *request, operator bool) {
	if r.vhost != "" && !a.exists(r) {
		return
	}
	list, err := a.broker.ListPolicies(r.Context(), r.vhost, operator)
	if err != nil {
		a.refuse(r, err)
		return
	}
	list = slices.DeleteFunc(list, func(p *policies.Policy) bool { return !a.sees(r.user, p.VHost) })
	if list == nil {
		list = []*policies.Policy{}
	}
	answer(r.w, http.StatusOK, list)
}

func (a *api) policy(r *request, operator bool) {
	list, err := a.broker.ListPolicies(r.Context(), r.vhost, operator)
	if err != nil {
		a.refuse(r, err)
		return
	}
	i := slices.IndexFunc(list, func(p *policies.Policy) bool { return p.Name == r.name })
	if i < 0 {
		notFound(r.w, r.Request)
		return
	}
	answer(r.w, http.StatusOK, list[i])
}

// setPolicy stores one: 201 if it is new, 204 if it replaces one (POL-12).
func (a *api) setPolicy(r *request, operator bool) {
	known, err := a.hasVHost(r.Context(), r.vhost)
	if err != nil {
		a.refuse(r, err)
		return
	}
	if !known {
		fail(r.w, http.StatusNotFound, "not_found", "vhost_not_found")
		return
	}
	body, ok := r.text(maxBody, decodedJSON)
	if !ok {
		return
	}
	p, err := policies.Parse(r.vhost, r.name, operator, body)
	if err != nil {
		fail(r.w, http.StatusBadRequest, "bad_request", reason(err))
		return
	}
	replaced, err := a.broker.SetPolicy(r.Context(), p)
	switch {
	case err != nil:
		a.refuse(r, err)
	case replaced:
		r.w.WriteHeader(http.StatusNoContent)
	default:
		r.w.WriteHeader(http.StatusCreated)
	}
}

// reason is what the client is told about a policy that is not one (POL-14).
func reason(err error) string {
	var invalid *policies.ValidationError
	if errors.As(err, &invalid) {
		return invalid.Reason()
	}
	return err.Error()
}

// clearPolicy removes one: 204, or 404 if there is none (POL-12).
func (a *api) clearPolicy(r *request, operator bool) {
	found, err := a.broker.ClearPolicy(r.Context(), r.vhost, r.name, operator)
	switch {
	case err != nil:
		a.refuse(r, err)
	case found:
		r.w.WriteHeader(http.StatusNoContent)
	default:
		notFound(r.w, r.Request)
	}
}

// exists tells whether there is the virtual host of the path; if not, it has
// answered.
func (a *api) exists(r *request) bool {
	known, err := a.hasVHost(r.Context(), r.vhost)
	switch {
	case err != nil:
		a.refuse(r, err)
	case !known:
		notFound(r.w, r.Request)
	}
	return err == nil && known
}

func (a *api) hasVHost(ctx context.Context, name string) (bool, error) {
	names, err := a.broker.VHosts(ctx)
	return slices.Contains(names, name), err
}
