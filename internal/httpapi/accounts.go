package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"

	"candlemark/internal/auth"
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

// accounts are all users, or the one that the path names; without are those that have no permissions.
var accounts, without = accountsThat(func(*request, string) bool { return true }), accountsThat(hasNoGrants)

func accountsThat(shown func(r *request, name string) bool) resource[accountItem] {
	return resource[accountItem]{
		func(r *request) ([]accountItem, error) {
			return forms(r.users.Accounts(), func(u *auth.Account) bool {
				return (r.name == "" || u.Name == r.name) && shown(r, u.Name)
			}, accountForm), nil
		},
		func(i *accountItem) string { return i.Name },
	}
}

func hasNoGrants(r *request, name string) bool { return len(r.users.Grants(name, "")) == 0 }

// putAccount creates a user, or replaces its password and tags: without either
// kind of password it has none.
func putAccount(r *request) (created bool, err error) {
	b, err := r.json()
	if err != nil {
		return false, err
	}
	wanted := accountOf(b, r.name)
	limits := accountLimits(b)
	grants := grantsOf(b, r.name)
	if b.err != nil {
		return false, b.err
	}
	if created, err = r.users.PutAccount(wanted); err != nil {
		return false, invalid(err)
	}
	if limits != nil {
		err = r.users.SetUserLimits(wanted.Name, func(l auth.Limits) auth.Limits {
			maps.Copy(l, limits)
			return l
		})
	}
	for i := 0; err == nil && created && i < len(grants); i++ {
		_, err = r.users.PutGrant(grants[i])
	}
	return created, grantFailure(err)
}

func accountOf(b *body, name string) auth.Account {
	wanted := auth.Account{Name: name, Tags: accountTags(b)}
	password, hash, algorithm := b.text("password"), b.text("password_hash"), b.text("hashing_algorithm")
	switch {
	case b.has("password") && b.has("password_hash"):
		b.fail(complaint("both_password_and_password_hash_are_provided"))
	case b.err != nil: // a hash takes time
	case b.has("password"):
		wanted.Hash = auth.HashPassword(password)
	case b.has("password_hash"):
		wanted.Algorithm = algorithm
		var err error
		if wanted.Hash, err = base64.StdEncoding.DecodeString(hash); err != nil {
			b.fail(tupleOf("not_base64", hash))
		}
	}
	return wanted
}

// accountLimits are those that a user gets beside those that it has.
func accountLimits(b *body) auth.Limits {
	if !b.has("limits") || isEmpty(b.fields["limits"]) {
		return nil
	}
	limits, err := auth.ParseUserLimits(b.fields["limits"])
	b.fail(invalid(err))
	return limits
}

// accountTags reads a list of tags, or a text with commas between them, or what
// came before tags: whether the user is an administrator.
func accountTags(b *body) []string {
	if b.has("tags") {
		return tagsOf(b)
	}
	if !b.has("administrator") {
		b.fail(complaint("tags_not_present"))
	}
	if b.flag("administrator") {
		return []string{"administrator"}
	}
	return []string{}
}

// tagsOf are a list of texts, or a text with commas between them.
func tagsOf(b *body) []string {
	var words []string
	if b.has("tags") && json.Unmarshal(b.fields["tags"], &words) != nil {
		words = strings.Split(b.text("tags"), ",")
	}
	trimmed := []string{}
	for _, word := range words {
		if word = strings.TrimSpace(word); word != "" {
			trimmed = append(trimmed, word)
		}
	}
	return trimmed
}

// grantsOf reads the permissions that a new user gets at once, by virtual host.
func grantsOf(b *body, name string) (grants []auth.Grant) {
	var perVHost map[string]map[string]json.RawMessage
	b.decode("permissions", &perVHost, complaint("{not_an_object,permissions}"))
	for vhost, rights := range perVHost {
		one := &body{fields: rights}
		grants = append(grants, grantOf(one, name, vhost))
		b.fail(one.err)
	}
	return grants
}

func deleteAccount(r *request) (bool, error) {
	return r.broker.DeleteUser(r.Context(), r.name)
}

// deleteAccounts deletes those of a list that exist.
func deleteAccounts(r *request) (any, error) {
	b, err := r.json("users")
	if err != nil {
		return nil, err
	}
	var names []string
	b.decode("users", &names, tupleOf("not_a_list", "users"))
	for i := 0; b.err == nil && i < len(names); i++ {
		_, b.err = r.broker.DeleteUser(r.Context(), names[i])
	}
	return nil, b.err
}

// hashPassword makes the hash of the password in the path, with a salt of its
// own, as definitions have it.
func hashPassword(r *request) (any, error) {
	return map[string]string{"ok": base64.StdEncoding.EncodeToString(auth.HashPassword(r.name))}, nil
}

// isEmpty tells whether raw is an object or list without anything in it, or
// null.
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
