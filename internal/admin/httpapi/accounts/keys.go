package accounts

import (
	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
	"candlemark/internal/admin/httpapi/rest"
)

// keyItem is the JSON form of an access key in a virtual host (ADR 76).
type keyItem struct {
	Name      string      `json:"name"`
	VHost     string      `json:"vhost"`
	Rights    []sas.Right `json:"rights"`
	Primary   string      `json:"primary_key"`
	Secondary string      `json:"secondary_key"`
}

// accessKeys are the access keys of the virtual host and name in the path, if any: users with keys, and their rights
// there.
var accessKeys = rest.Resource[keyItem]{
	Items: func(r *rest.Request) ([]keyItem, error) {
		list := []keyItem{}
		for _, g := range r.Users.Grants(r.Name, r.VHost) {
			if a, _ := r.Users.Account(g.User); a.Keys != (sas.Keys{}) {
				list = append(list, keyItem{a.Name, g.VHost, sas.RightsOf(g.Configure, g.Write, g.Read), a.Keys.Primary, a.Keys.Secondary})
			}
		}
		return list, nil
	},
	Name: func(i *keyItem) string { return i.Name },
}

// putAccessKey creates a key, or changes its rights in a virtual host. Omitted keys are kept, or random for a new user.
func putAccessKey(r *rest.Request) (created bool, err error) {
	b := r.JSON("rights")
	var rights []sas.Right
	b.Decode("rights", &rights, rest.TupleOf("not_a_list", "rights"))
	primary, secondary := b.Text("primary_key"), b.Text("secondary_key")
	if b.Err != nil {
		return false, b.Err
	}
	g := auth.Grant{User: r.Name, VHost: r.VHost}
	if g.Configure, g.Write, g.Read, err = sas.Permissions(rights); err != nil {
		return false, rest.Invalid(err)
	}
	a, there := r.Users.Account(r.Name)
	keys := a.Keys
	if keys == (sas.Keys{}) {
		keys, created = sas.NewKeys(), true
	}
	if primary != "" {
		keys.Primary = primary
	}
	if secondary != "" {
		keys.Secondary = secondary
	}
	if there {
		err = r.Users.SetAccessKeys(r.Name, keys)
	} else {
		_, err = r.Users.PutAccount(auth.Account{Name: r.Name, Keys: keys})
	}
	if err == nil {
		_, err = r.Users.PutGrant(g)
	}
	return created, grantFailure(err)
}

// deleteAccessKey removes the keys of a user, and deletes the user if it has no password.
func deleteAccessKey(r *rest.Request) (bool, error) {
	a, _ := r.Users.Account(r.Name)
	if _, ok := r.Users.Grant(r.Name, r.VHost); !ok || a.Keys == (sas.Keys{}) {
		return false, nil
	}
	if len(a.Hash) == 0 {
		return r.Broker.DeleteUser(r.Context(), r.Name)
	}
	return true, r.Users.SetAccessKeys(r.Name, sas.Keys{})
}

// rotateAccessKey replaces the primary or the secondary key by a new one, and answers with both.
func rotateAccessKey(r *rest.Request) (any, error) {
	b := r.JSON("key")
	which := b.Text("key")
	if b.Err != nil {
		return nil, b.Err
	}
	a, _ := r.Users.Account(r.Name)
	if _, ok := r.Users.Grant(r.Name, r.VHost); !ok || a.Keys == (sas.Keys{}) {
		return nil, rest.ErrNotFound
	}
	switch which {
	case "primary":
		a.Keys.Primary = sas.NewKey()
	case "secondary":
		a.Keys.Secondary = sas.NewKey()
	default:
		return nil, rest.Complaintf("key is %q, neither primary nor secondary", which)
	}
	if err := r.Users.SetAccessKeys(r.Name, a.Keys); err != nil {
		return nil, rest.Invalid(err)
	}
	return accessKeys.One(r)
}

var accessKeyRoutes = []rest.Route{
	rest.Get("/api/x/access-keys", rest.Administrator, accessKeys.List),
	rest.Get("/api/x/access-keys/{vhost}", rest.InVHost(rest.Administrator), accessKeys.List),
	rest.Get("/api/x/access-keys/{vhost}/{name}", rest.InVHost(rest.Administrator), accessKeys.One),
	rest.Put("/api/x/access-keys/{vhost}/{name}", rest.ChangesVHost(rest.Administrator), rest.Created(putAccessKey)),
	rest.Delete("/api/x/access-keys/{vhost}/{name}", rest.ChangesVHost(rest.Administrator), rest.Found(deleteAccessKey)),
	rest.Post("/api/x/access-keys/{vhost}/{name}/rotate", rest.ChangesVHost(rest.Administrator), rotateAccessKey),
}
