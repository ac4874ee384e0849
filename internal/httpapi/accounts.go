package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
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

func account(a auth.Account) accountItem {
	if a.Limits == nil {
		a.Limits = auth.Limits{}
	}
	return accountItem{Limits: a.Limits, Name: a.Name, Hash: base64.StdEncoding.EncodeToString(a.Hash), Algorithm: a.Algorithm, Tags: a.Tags}
}

func (a *api) accountPaths(mux *http.ServeMux) {
	mux.Handle("/api/users", methods{"GET": a.guard(administrator, a.accounts)})
	mux.Handle("/api/users/without-permissions", methods{"GET": a.guard(administrator, a.accountsWithoutPermissions)})
	mux.Handle("/api/users/bulk-delete", methods{"POST": a.guard(administrator, a.deleteAccounts)})
	mux.Handle("/api/users/{name}", methods{
		"GET":    a.guard(administrator, a.account),
		"PUT":    a.guard(administrator, a.putAccount),
		"DELETE": a.guard(administrator, a.deleteAccount),
	})
	mux.Handle("/api/auth/hash_password/{name}", methods{"GET": a.guard(administrator, hashPassword)})
}

func (a *api) accounts(r *request) { a.listAccounts(r, func(string) bool { return true }) }

func (a *api) accountsWithoutPermissions(r *request) {
	a.listAccounts(r, func(name string) bool { return len(a.users.Grants(name, "")) == 0 })
}

func (a *api) listAccounts(r *request, shown func(name string) bool) {
	items := []accountItem{}
	for _, known := range a.users.Accounts() {
		if shown(known.Name) {
			items = append(items, account(known))
		}
	}
	list(r, items, func(i *accountItem) string { return i.Name })
}

func (a *api) account(r *request) {
	known, ok := a.users.Account(r.name)
	if !ok {
		notFound(r.w, r.Request)
		return
	}
	one(r, account(known))
}

// putAccount creates a user, or replaces its password and tags: without either
// kind of password it has none.
func (a *api) putAccount(r *request) {
	body, ok := r.body(maxBody)
	if !ok {
		return
	}
	wanted, err := parseAccount(r.name, body)
	if bad(r, err) {
		return
	}
	limits, err := accountLimits(body)
	if bad(r, err) {
		return
	}
	grants, err := parseGrants(r.name, body)
	if bad(r, err) {
		return
	}
	created, err := a.users.PutAccount(wanted)
	if bad(r, err) {
		return
	}
	if limits != nil {
		err = a.users.SetUserLimits(wanted.Name, func(l auth.Limits) auth.Limits {
			maps.Copy(l, limits)
			return l
		})
		if bad(r, err) {
			return
		}
	}
	for i := 0; created && i < len(grants); i++ {
		if _, err := a.users.PutGrant(grants[i]); bad(r, grantFailure(err)) {
			return
		}
	}
	r.stored(created)
}

// stored answers a PUT.
func (r *request) stored(created bool) {
	if created {
		r.w.WriteHeader(http.StatusCreated)
		return
	}
	r.w.WriteHeader(http.StatusNoContent)
}

func parseAccount(name string, body map[string]json.RawMessage) (auth.Account, error) {
	wanted := auth.Account{Name: name}
	var err error
	if wanted.Tags, err = accountTags(body); err != nil {
		return wanted, err
	}
	password, errPassword := text(body, "password")
	hash, errHash := text(body, "password_hash")
	algorithm, errAlgorithm := text(body, "hashing_algorithm")
	if err := errors.Join(errPassword, errHash, errAlgorithm); err != nil {
		return wanted, err
	}
	switch {
	case body["password"] != nil && body["password_hash"] != nil:
		return wanted, complaint("both_password_and_password_hash_are_provided")
	case body["password"] != nil:
		wanted.Hash = auth.HashPassword(password)
	case body["password_hash"] != nil:
		wanted.Algorithm = algorithm
		if wanted.Hash, err = base64.StdEncoding.DecodeString(hash); err != nil {
			return wanted, tupleOf("not_base64", hash)
		}
	}
	return wanted, nil
}

// accountTags reads a list of tags, or a text with commas between them, or what
// came before tags: whether the user is an administrator.
func accountTags(body map[string]json.RawMessage) ([]string, error) {
	if body["tags"] != nil {
		return tags(body, "tags")
	}
	if body["administrator"] == nil {
		return nil, complaint("tags_not_present")
	}
	yes, err := flag(body, "administrator")
	if yes {
		return []string{"administrator"}, err
	}
	return []string{}, err
}

// tags are a list of texts, or a text with commas between them.
func tags(body map[string]json.RawMessage, key string) ([]string, error) {
	var words []string
	if raw := body[key]; raw != nil && json.Unmarshal(raw, &words) != nil {
		joined, err := text(body, key)
		if err != nil {
			return nil, tupleOf("not_string", key)
		}
		words = strings.Split(joined, ",")
	}
	trimmed := []string{}
	for _, word := range words {
		if word = strings.TrimSpace(word); word != "" {
			trimmed = append(trimmed, word)
		}
	}
	return trimmed, nil
}

// parseGrants reads the permissions that a new user gets at once, by virtual
// host.
func parseGrants(name string, body map[string]json.RawMessage) ([]auth.Grant, error) {
	var perVHost map[string]map[string]json.RawMessage
	if raw := body["permissions"]; raw != nil && json.Unmarshal(raw, &perVHost) != nil {
		return nil, complaint("{not_an_object,permissions}")
	}
	var grants []auth.Grant
	for vhost, rights := range perVHost {
		g, err := parseGrant(name, vhost, rights)
		if err != nil {
			return nil, err
		}
		grants = append(grants, g)
	}
	return grants, nil
}

func (a *api) deleteAccount(r *request) {
	switch found, err := a.broker.DeleteUser(r.Context(), r.name); {
	case err != nil:
		a.refuse(r, err)
	case found:
		r.w.WriteHeader(http.StatusNoContent)
	default:
		notFound(r.w, r.Request)
	}
}

// deleteAccounts deletes those of a list that exist.
func (a *api) deleteAccounts(r *request) {
	body, ok := r.body(maxBody)
	if !ok || bad(r, missing(body, "users")) {
		return
	}
	var names []string
	if json.Unmarshal(body["users"], &names) != nil {
		_ = bad(r, tupleOf("not_a_list", "users"))
		return
	}
	for _, name := range names {
		if _, err := a.broker.DeleteUser(r.Context(), name); err != nil {
			a.refuse(r, err)
			return
		}
	}
	r.w.WriteHeader(http.StatusNoContent)
}

// hashPassword makes the hash of the password in the path, with a salt of its
// own, as definitions have it.
func hashPassword(r *request) {
	answer(r.w, http.StatusOK, struct {
		OK string `json:"ok"`
	}{base64.StdEncoding.EncodeToString(auth.HashPassword(r.name))})
}

// isEmpty tells whether raw is an object or list without anything in it, or
// null.
func isEmpty(raw json.RawMessage) bool {
	switch v := generic(raw).(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil
	}
}
