package httpapi

import (
	"encoding/json"
	"errors"

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

// vhostLimits are those of the virtual hosts that have any, of the one that the path
// names or of all that the user may see.
func (a *api) vhostLimits() resource[vhostLimitsItem] {
	return resource[vhostLimitsItem]{
		func(r *request) ([]vhostLimitsItem, error) {
			return forms(a.users.VHosts(), func(v *auth.VHost) bool {
				return (r.vhost == "" || v.Name == r.vhost) && len(v.Limits) > 0 && a.sees(r.user, v.Name)
			}, func(v *auth.VHost) vhostLimitsItem { return vhostLimitsItem{v.Name, v.Limits} }), nil
		},
		func(i *vhostLimitsItem) string { return i.VHost },
	}
}

// userLimits are those of the users that have any, of the one that the path names or
// of all. Who is no monitor sees its own.
func (a *api) userLimits() resource[userLimitsItem] {
	return resource[userLimitsItem]{
		func(r *request) ([]userLimitsItem, error) {
			name := r.part("user")
			return forms(a.users.Accounts(), func(u *auth.Account) bool {
				return (name == "" || u.Name == name) && (monitors(r) || u.Name == r.user.Name) && len(u.Limits) > 0
			}, func(u *auth.Account) userLimitsItem { return userLimitsItem{u.Name, u.Limits} }), nil
		},
		func(i *userLimitsItem) string { return i.User },
	}
}

// himself is the user that the path names, or may see what others have.
func himself(a *api, r *request) error {
	name := r.part("user")
	if name != r.user.Name && !monitors(r) {
		return errNotAuthorised
	}
	if _, known := a.users.Account(name); !known {
		return errNotFound
	}
	return nil
}

// setLimits changes the limits of what the path names.
type setLimits func(r *request, f func(auth.Limits) auth.Limits) error

func (a *api) setVHostLimits(r *request, f func(auth.Limits) auth.Limits) error {
	return limitFailure(a.users.SetVHostLimits(r.vhost, f))
}

func (a *api) setUserLimits(r *request, f func(auth.Limits) auth.Limits) error {
	return limitFailure(a.users.SetUserLimits(r.part("user"), f))
}

func limitFailure(err error) error {
	switch {
	case errors.Is(err, auth.ErrNoVHost):
		return errNoVHost
	case errors.Is(err, auth.ErrNoUser):
		return nonexistent("user_not_found")
	}
	return err
}

// putLimit sets the one limit that the path names.
func putLimit(set setLimits, parse func([]byte) (auth.Limits, error)) handler {
	return func(r *request) (any, error) {
		if err := set(r, func(before auth.Limits) auth.Limits { return before }); err != nil {
			return nil, err
		}
		b, err := r.body(maxBody, "value")
		if err != nil {
			return nil, err
		}
		limits, err := parse(encode(map[string]json.RawMessage{r.name: b.fields["value"]}))
		if err != nil {
			return nil, invalid(err)
		}
		return nil, set(r, func(l auth.Limits) auth.Limits {
			l[r.name] = limits[r.name]
			return l
		})
	}
}

// deleteLimit takes away the one limit that the path names, which need not be
// there.
func deleteLimit(set setLimits) handler {
	return func(r *request) (any, error) {
		return nil, set(r, func(l auth.Limits) auth.Limits {
			delete(l, r.name)
			return l
		})
	}
}
