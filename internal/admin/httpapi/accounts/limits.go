package accounts

import (
	"encoding/json"
	"errors"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/text/jsonencode"
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

// limitsOfVHosts are the limits of the virtual host in the path, or of all with limits that the user may see.
var limitsOfVHosts = rest.Resource[vhostLimitsItem]{
	Items: func(r *rest.Request) ([]vhostLimitsItem, error) {
		return rest.Forms(r.Users.VHosts(), func(v *auth.VHost) bool {
			return (r.VHost == "" || v.Name == r.VHost) && len(v.Limits) > 0 && r.Sees(v.Name)
		}, func(v *auth.VHost) vhostLimitsItem { return vhostLimitsItem{v.Name, v.Limits} }), nil
	},
	Name: func(i *vhostLimitsItem) string { return i.VHost },
}

// limitsOfUsers are the limits of all users that have any, or of the user in the path. Users without the tag monitoring
// see their own only.
var limitsOfUsers = rest.Resource[userLimitsItem]{
	Items: func(r *rest.Request) ([]userLimitsItem, error) {
		name := r.Part("user")
		return rest.Forms(r.Users.Accounts(), func(u *auth.Account) bool {
			return (name == "" || u.Name == name) && (r.Monitors() || u.Name == r.User.Name) && len(u.Limits) > 0
		}, func(u *auth.Account) userLimitsItem { return userLimitsItem{u.Name, u.Limits} }), nil
	},
	Name: func(i *userLimitsItem) string { return i.User },
}

// limitsUser checks that the path names the user of the request, or that this user may see the limits of others.
func limitsUser(r *rest.Request) error {
	name := r.Part("user")
	if name != r.User.Name && !r.Monitors() {
		return rest.ErrNotAuthorised
	}
	if _, known := r.Users.Account(name); !known {
		return rest.ErrNotFound
	}
	return nil
}

// setLimits changes the limits of the object in the path.
type setLimits func(r *rest.Request, f func(auth.Limits) auth.Limits) error

func setVHostLimits(r *rest.Request, f func(auth.Limits) auth.Limits) error {
	return limitFailure(r.Users.SetVHostLimits(r.VHost, f))
}

func setUserLimits(r *rest.Request, f func(auth.Limits) auth.Limits) error {
	return limitFailure(r.Users.SetUserLimits(r.Part("user"), f))
}

func limitFailure(err error) error {
	switch {
	case errors.Is(err, auth.ErrNoVHost):
		return rest.ErrNoVHost
	case errors.Is(err, auth.ErrNoUser):
		return rest.Nonexistent("user_not_found")
	}
	return err
}

// putLimit sets the limit named in the path.
func putLimit(set setLimits, parse func([]byte) (auth.Limits, error)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		if err := set(r, func(before auth.Limits) auth.Limits { return before }); err != nil {
			return nil, err
		}
		b := r.JSON("value")
		if b.Err != nil {
			return nil, b.Err
		}
		limits, err := parse(jsonencode.Marshal(map[string]json.RawMessage{r.Name: b.Fields["value"]}))
		if err != nil {
			return nil, rest.Invalid(err)
		}
		return nil, set(r, func(l auth.Limits) auth.Limits {
			l[r.Name] = limits[r.Name]
			return l
		})
	}
}

// deleteLimit removes the limit named in the path, which need not exist.
func deleteLimit(set setLimits) rest.Handler {
	return func(r *rest.Request) (any, error) {
		return nil, set(r, func(l auth.Limits) auth.Limits {
			delete(l, r.Name)
			return l
		})
	}
}
