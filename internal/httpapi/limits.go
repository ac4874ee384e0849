package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"candlemark/internal/auth"
)

// vhostLimitsItem is the JSON form of the limits of a virtual host.
type vhostLimitsItem struct {
	VHost string      `json:"vhost"`
	Value auth.Limits `json:"value"`
}

// userLimitsItem is the JSON form of the limits of a user.
type userLimitsItem struct {
	User  string      `json:"user"`
	Value auth.Limits `json:"value"`
}

func (a *api) limitPaths(mux *http.ServeMux) {
	mux.Handle("/api/vhost-limits", methods{"GET": a.guard(anybody, a.vhostLimits)})
	mux.Handle("/api/vhost-limits/{vhost}", methods{"GET": a.guard(visitor, a.vhostLimits)})
	vhosts, users := changer(auth.VHostLimits), changer(auth.UserLimits)
	mux.Handle("/api/vhost-limits/{vhost}/{name}", methods{
		"PUT":    a.guard(vhosts, a.putVHostLimit),
		"DELETE": a.guard(vhosts, a.deleteVHostLimit),
	})
	mux.Handle("/api/user-limits", methods{"GET": a.guard(anybody, a.userLimits)})
	mux.Handle("/api/user-limits/{user}", methods{"GET": a.guard(anybody, a.userLimits)})
	mux.Handle("/api/user-limits/{user}/{name}", methods{
		"PUT":    a.guard(users, a.putUserLimit),
		"DELETE": a.guard(users, a.deleteUserLimit),
	})
}

// vhostLimits lists those that have any, of one virtual host or of all that the
// user may see.
func (a *api) vhostLimits(r *request) {
	if r.vhost != "" && !a.exists(r) {
		return
	}
	items := []vhostLimitsItem{}
	for _, v := range a.users.VHosts() {
		if (r.vhost == "" || v.Name == r.vhost) && len(v.Limits) > 0 && a.sees(r.user, v.Name) {
			items = append(items, vhostLimitsItem{v.Name, v.Limits})
		}
	}
	list(r, items, func(i *vhostLimitsItem) string { return i.VHost })
}

func (a *api) putVHostLimit(r *request) { a.putLimit(r, auth.ParseVHostLimits, a.setVHostLimits) }

func (a *api) deleteVHostLimit(r *request) { a.deleteLimit(r, a.setVHostLimits) }

func (a *api) setVHostLimits(r *request, f func(auth.Limits) auth.Limits) error {
	return a.users.SetVHostLimits(r.vhost, f)
}

// userLimits lists those that have any, of one user or of all. Who is no monitor sees
// its own.
func (a *api) userLimits(r *request) {
	name := r.part("user")
	if name != "" && name != r.user.Name && !monitors(r) {
		fail(r.w, http.StatusUnauthorized, "not_authorised", "User not authorised to access object")
		return
	}
	if _, known := a.users.Account(name); name != "" && !known {
		notFound(r.w, r.Request)
		return
	}
	items := []userLimitsItem{}
	for _, u := range a.users.Accounts() {
		if (name == "" || u.Name == name) && (monitors(r) || u.Name == r.user.Name) && len(u.Limits) > 0 {
			items = append(items, userLimitsItem{u.Name, u.Limits})
		}
	}
	list(r, items, func(i *userLimitsItem) string { return i.User })
}

func (a *api) putUserLimit(r *request) { a.putLimit(r, auth.ParseUserLimits, a.setUserLimits) }

func (a *api) deleteUserLimit(r *request) { a.deleteLimit(r, a.setUserLimits) }

func (a *api) setUserLimits(r *request, f func(auth.Limits) auth.Limits) error {
	return a.users.SetUserLimits(r.part("user"), f)
}

// setLimits changes the limits of what the path names.
type setLimits func(r *request, f func(auth.Limits) auth.Limits) error

// putLimit sets the one limit that the path names.
func (a *api) putLimit(r *request, parse func([]byte) (auth.Limits, error), set setLimits) {
	if !a.limited(r, func(before auth.Limits) auth.Limits { return before }, set) {
		return
	}
	body, ok := r.body(maxBody)
	if !ok || bad(r, missing(body, "value")) {
		return
	}
	limits, err := parse(encode(map[string]json.RawMessage{r.name: body["value"]}))
	if bad(r, err) {
		return
	}
	if a.limited(r, func(l auth.Limits) auth.Limits {
		l[r.name] = limits[r.name]
		return l
	}, set) {
		r.w.WriteHeader(http.StatusNoContent)
	}
}

// deleteLimit takes away the one limit that the path names, which need not be
// there.
func (a *api) deleteLimit(r *request, set setLimits) {
	if a.limited(r, func(l auth.Limits) auth.Limits {
		delete(l, r.name)
		return l
	}, set) {
		r.w.WriteHeader(http.StatusNoContent)
	}
}

// limited changes limits; when it cannot, the answer is given and it says false.
func (a *api) limited(r *request, f func(auth.Limits) auth.Limits, set setLimits) bool {
	switch err := set(r, f); {
	case errors.Is(err, auth.ErrNoVHost):
		fail(r.w, http.StatusNotFound, "not_found", "vhost_not_found")
	case errors.Is(err, auth.ErrNoUser):
		fail(r.w, http.StatusNotFound, "not_found", "user_not_found")
	case err != nil:
		a.refuse(r, err)
	default:
		return true
	}
	return false
}

// accountLimits are those that a user gets beside those that it has.
func accountLimits(body map[string]json.RawMessage) (auth.Limits, error) {
	if raw := body["limits"]; raw != nil && !isEmpty(raw) {
		return auth.ParseUserLimits(raw)
	}
	return nil, nil
}
