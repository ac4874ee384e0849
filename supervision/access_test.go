package supervision_test

import (
	"errors"
	"regexp"

	"candlemark/internal/auth"
)

// lacking are users with one who may do everything in / but for what it is
// refused. It may use the HTTP API.
func lacking(name, password string, refused ...auth.Refusal) *auth.Users {
	u := auth.NewGuest()
	expressions := [3]string{".*", ".*", ".*"}
	for _, r := range refused {
		of := r.Resource.Name
		if of == "" {
			of = "amq.default"
		}
		expressions[r.Permission] = "^(?!" + regexp.QuoteMeta(of) + "$)"
	}
	_, errUser := u.PutAccount(auth.Account{Name: name, Tags: []string{"management"}, Hash: auth.HashPassword(password)})
	_, errGrant := u.PutGrant(auth.Grant{
		User: name, VHost: "/", Configure: expressions[auth.Configure], Write: expressions[auth.Write], Read: expressions[auth.Read],
	})
	if err := errors.Join(errUser, errGrant); err != nil {
		panic(err)
	}
	return u
}
