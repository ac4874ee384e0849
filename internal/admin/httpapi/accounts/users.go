package accounts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/text/redact"
)

// accountItem is the JSON form of a user.
type accountItem struct {
	Name      string      `json:"name"`
	Hash      string      `json:"password_hash"`
	Algorithm string      `json:"hashing_algorithm"`
	Tags      []string    `json:"tags"`
	Limits    auth.Limits `json:"limits"`
}

func accountForm(a *auth.Account) accountItem {
	if a.Limits == nil {
		a.Limits = auth.Limits{}
	}
	return accountItem{Limits: a.Limits, Name: a.Name, Hash: base64.StdEncoding.EncodeToString(a.Hash), Algorithm: a.Algorithm, Tags: a.Tags}
}

// accounts are all users, or the one named in the path; without are the users without permissions.
var accounts, without = accountsThat(func(*rest.Request, string) bool { return true }), accountsThat(hasNoGrants)

func accountsThat(shown func(r *rest.Request, name string) bool) rest.Resource[accountItem] {
	return rest.Resource[accountItem]{
		Items: func(r *rest.Request) ([]accountItem, error) {
			return rest.Forms(r.Users.Accounts(), func(u *auth.Account) bool {
				return (r.Name == "" || u.Name == r.Name) && shown(r, u.Name)
			}, accountForm), nil
		},
		Name: func(i *accountItem) string { return i.Name },
	}
}

func hasNoGrants(r *rest.Request, name string) bool { return len(r.Users.Grants(name, "")) == 0 }

// putAccount creates a user, or replaces its password and tags: if neither kind of password is given, it has none.
func putAccount(r *rest.Request) (created bool, err error) {
	b := r.JSON()
	wanted := accountOf(b, r.Name)
	limits := accountLimits(b)
	grants := grantsOf(b, r.Name)
	if b.Err != nil {
		return false, b.Err
	}
	if created, err = r.Users.PutAccount(wanted); err != nil {
		return false, rest.Invalid(err)
	}
	if !created {
		grants = nil
	}
	return created, equip(r.Users, r.Name, limits, grants)
}

// equip sets limits and permissions of a user. The user may have been deleted since it was stored.
func equip(users *auth.Users, name string, limits auth.Limits, grants []auth.Grant) (err error) {
	if limits != nil {
		err = users.SetUserLimits(name, func(l auth.Limits) auth.Limits {
			maps.Copy(l, limits)
			return l
		})
	}
	for i := 0; err == nil && i < len(grants); i++ {
		_, err = users.PutGrant(grants[i])
	}
	return grantFailure(err)
}

func accountOf(b *rest.Body, name string) auth.Account {
	wanted := auth.Account{Name: name, Tags: accountTags(b)}
	password, hash, algorithm := b.Text("password"), b.Text("password_hash"), b.Text("hashing_algorithm")
	switch {
	case b.Has("password") && b.Has("password_hash"):
		b.Fail(rest.Complaint("both_password_and_password_hash_are_provided"))
	case b.Err != nil: // a hash takes time
	case b.Has("password"):
		wanted.Hash = auth.HashPassword(password)
	case b.Has("password_hash"):
		wanted.Algorithm = algorithm
		var err error
		if wanted.Hash, err = base64.StdEncoding.DecodeString(hash); err != nil {
			b.Fail(rest.TupleOf("not_base64", redact.Mark))
		}
	}
	return wanted
}

// accountLimits returns the limits to add to a user's limits.
func accountLimits(b *rest.Body) auth.Limits {
	if !b.Has("limits") || isEmpty(b.Fields["limits"]) {
		return nil
	}
	limits, err := auth.ParseUserLimits(b.Fields["limits"])
	b.Fail(rest.Invalid(err))
	return limits
}

// accountTags reads a list of tags, or a text with commas between them, or the older field that makes the user an
// administrator.
func accountTags(b *rest.Body) []string {
	if b.Has("tags") {
		return b.Tags()
	}
	if !b.Has("administrator") {
		b.Fail(rest.Complaint("tags_not_present"))
	}
	if b.Flag("administrator") {
		return []string{"administrator"}
	}
	return []string{}
}

// grantsOf reads the permissions that a new user gets at once, by virtual host.
func grantsOf(b *rest.Body, name string) (grants []auth.Grant) {
	var perVHost map[string]map[string]json.RawMessage
	b.Decode("permissions", &perVHost, rest.Complaint("{not_an_object,permissions}"))
	for vhost, rights := range perVHost {
		one := &rest.Body{Fields: rights}
		grants = append(grants, grantOf(one, name, vhost))
		b.Fail(one.Err)
	}
	return grants
}

// deleteAccount deletes a user. The answer has a body only if there are warnings.
func deleteAccount(r *rest.Request) (any, error) {
	found, err := r.Broker.DeleteUser(r.Context(), r.Name)
	if err == nil && !found {
		err = rest.ErrNotFound
	}
	return deletionWarnings(r, r.Name), err
}

// deletionWarnings tells of schedules that publish as deleted users (REC-12), nil if there are none.
func deletionWarnings(r *rest.Request, names ...string) any {
	var list []string
	for _, name := range names {
		if n := r.Broker.SchedulesOf(name); n > 0 {
			list = append(list, fmt.Sprintf("schedules that publish as user '%s': %d; their runs are refused until there is such a user again", name, n))
		}
	}
	if list == nil {
		return nil
	}
	return map[string][]string{"warnings": list}
}

// deleteAccounts deletes the existing users of a list.
func deleteAccounts(r *rest.Request) (any, error) {
	b := r.JSON("users")
	var names []string
	b.Decode("users", &names, rest.TupleOf("not_a_list", "users"))
	for i := 0; b.Err == nil && i < len(names); i++ {
		_, b.Err = r.Broker.DeleteUser(r.Context(), names[i])
	}
	if b.Err != nil {
		return nil, b.Err
	}
	return deletionWarnings(r, names...), nil
}

// hashPassword returns the hash of the password in the path, with a new salt, in the form of definitions.
func hashPassword(r *rest.Request) (any, error) {
	return map[string]string{"ok": base64.StdEncoding.EncodeToString(auth.HashPassword(r.Name))}, nil
}

// isEmpty reports whether raw is an object or list without anything in it, or null.
func isEmpty(raw json.RawMessage) bool {
	var v any
	_ = json.Unmarshal(raw, &v) // it was decoded before
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil
	}
}
