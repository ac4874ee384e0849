package definitions

import "candlemark/internal/access/auth"

// KeepUsers stores every change of users before it takes effect, and refuses it if that fails. The contents of users
// are replaced by the users in d, which was loaded. In a new data folder they stay and are stored.
func KeepUsers(m Store, d *Definitions, users *auth.Users) error {
	if d.Revision == 0 {
		if _, err := Wait(m, Change{Put: whole(users.Stored())}); err != nil {
			return err
		}
	} else if err := users.Load(auth.Stored{VHosts: d.VHosts, Accounts: d.Accounts, Grants: d.Grants, TopicGrants: d.TopicGrants}); err != nil {
		return err
	}
	users.Observe(func(c auth.Change) error {
		_, err := Wait(m, Change{Put: c.Put, Delete: c.Deleted})
		return err
	})
	return nil
}

func whole(s auth.Stored) (all []any) {
	all = appendAll(all, s.VHosts)
	all = appendAll(all, s.Accounts)
	all = appendAll(all, s.Grants)
	return appendAll(all, s.TopicGrants)
}

func appendAll[T any](all []any, more []T) []any {
	for _, v := range more {
		all = append(all, v)
	}
	return all
}
