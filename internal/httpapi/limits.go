package httpapi

import (
	"encoding/json"
	"errors"

	"candlemark/internal/auth"
	"candlemark/internal/plainjson"
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

// limitsOfVHosts are those of the virtual hosts that have any, of the one that the path
// names or of all that the user may see.
var limitsOfVHosts = resource[vhostLimitsItem]{
	func(r *request) ([]vhostLimitsItem, error) {
		return forms(r.users.VHosts(), func(v *auth.VHost) bool {
			return (r.vhost == "" || v.Name == r.vhost) && len(v.Limits) > 0 && r.sees(v.Name)
		}, func(v *auth.VHost) vhostLimitsItem { return vhostLimitsItem{v.Name, v.Limits} }), nil
	},
	func(i *vhostLimitsItem) string { return i.VHost },
}

// limitsOfUsers are those of the users that have any, of the one that the path names or
// of all. Who is no monitor sees its own.
var limitsOfUsers = resource[userLimitsItem]{
	func(r *request) ([]userLimitsItem, error) {
		name := r.part("user")
		return forms(r.users.Accounts(), func(u *auth.Account) bool {
			return (name == "" || u.Name == name) && (r.monitors() || u.Name == r.user.Name) && len(u.Limits) > 0
		}, func(u *auth.Account) userLimitsItem { return userLimitsItem{u.Name, u.Limits} }), nil
	},
	func(i *userLimitsItem) string { return i.User },
}

// himself is the user that the path names, or may see what others have.
func himself(r *request) error {
	name := r.part("user")
	if name != r.user.Name && !r.monitors() {
		return errNotAuthorised
	}
	if _, known := r.users.Account(name); !known {
		return errNotFound
	}
	return nil
}

// setLimits changes the limits of what the path names.
type setLimits func(r *request, f func(auth.Limits) auth.Limits) error

func setVHostLimits(r *request, f func(auth.Limits) auth.Limits) error {
	return limitFailure(r.users.SetVHostLimits(r.vhost, f))
}

func setUserLimits(r *request, f func(auth.Limits) auth.Limits) error {
	return limitFailure(r.users.SetUserLimits(r.part("user"), f))
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
		b, err := r.json("value")
		if err != nil {
			return nil, err
		}
		limits, err := parse(plainjson.Marshal(map[string]json.RawMessage{r.name: b.fields["value"]}))
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
