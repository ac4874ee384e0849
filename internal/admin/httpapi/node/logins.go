package node

import (
	"cmp"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
)

// loginsItem is the JSON form of logins over one protocol.
type loginsItem struct {
	Protocol  string `json:"protocol"`
	Attempts  uint64 `json:"auth_attempts"`
	Failed    uint64 `json:"auth_attempts_failed"`
	Succeeded uint64 `json:"auth_attempts_succeeded"`
}

// sourceItem is the JSON form of the logins of a user from an address.
type sourceItem struct {
	Address string `json:"remote_address"`
	User    string `json:"username"`
	loginsItem
}

func loginsForm(protocol string, l auth.Logins) loginsItem {
	return loginsItem{protocol, l.Succeeded + l.Failed, l.Failed, l.Succeeded}
}

// logins lists the numbers of login attempts, for each protocol that has had any.
func logins(r *rest.Request) (any, error) {
	items := []loginsItem{}
	all := r.Users.Logins()
	for protocol, l := range map[string]auth.Logins{auth.AMQP091: all.AMQP091, auth.AMQP10: all.AMQP10, auth.HTTP: all.HTTP} {
		if l != (auth.Logins{}) {
			items = append(items, loginsForm(protocol, l))
		}
	}
	slices.SortFunc(items, func(a, b loginsItem) int { return cmp.Compare(a.Protocol, b.Protocol) })
	return items, nil
}

// loginsBySource lists login attempts by user and address.
func loginsBySource(r *rest.Request) (any, error) {
	return rest.Forms(r.Users.LoginsBySource(), rest.All, func(l *auth.SourceLogins) sourceItem {
		item := sourceItem{User: l.User, loginsItem: loginsForm(l.Protocol, l.Logins)}
		if l.Address.IsValid() {
			item.Address = l.Address.String()
		}
		return item
	}), nil
}

// forgetLogins resets the counts of logins.
func forgetLogins(r *rest.Request) (any, error) {
	r.Users.ForgetLogins()
	return nil, nil
}

// here lets requests through that name this node.
func here(allowed rest.Rule) rest.Rule {
	return func(r *rest.Request) error {
		if err := allowed(r); err != nil {
			return err
		}
		if r.Name != "" && r.Name != r.Node {
			return rest.ErrNotFound
		}
		return nil
	}
}

// logIn confirms the name and password sent in a form. It issues nothing that could replace them in later requests.
func logIn(r *rest.Request) (any, error) {
	if err := r.LogInWithForm(); err != nil {
		return nil, err
	}
	return "ok", nil
}

// forgetRates drops all samples for rates.
func forgetRates(r *rest.Request) (any, error) {
	r.Rates.Forget()
	return nil, nil
}
