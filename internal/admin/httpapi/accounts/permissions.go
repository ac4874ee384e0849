package accounts

import (
	"errors"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/policies/pattern"
)

// The JSON forms of permissions.
type (
	grantItem struct {
		User      string `json:"user"`
		VHost     string `json:"vhost"`
		Configure string `json:"configure"`
		Write     string `json:"write"`
		Read      string `json:"read"`
	}
	topicItem struct {
		User     string `json:"user"`
		VHost    string `json:"vhost"`
		Exchange string `json:"exchange"`
		Write    string `json:"write"`
		Read     string `json:"read"`
	}
)

// ofUser answers 404 if the user of the path does not exist.
func ofUser(r *rest.Request) error {
	if err := rest.Administrator(r); err != nil {
		return err
	}
	if _, known := r.Users.Account(r.Name); !known {
		return rest.ErrNotFound
	}
	return nil
}

// grants are the permissions of the user and virtual host in the path.
var grants = rest.Resource[grantItem]{
	Items: func(r *rest.Request) ([]grantItem, error) {
		items := []grantItem{}
		for _, g := range r.Users.Grants(r.Name, r.VHost) {
			items = append(items, grantItem(g))
		}
		return items, nil
	},
	Name: func(i *grantItem) string { return i.User },
}

func putGrant(r *rest.Request) (bool, error) {
	b := granting(r)
	g := grantOf(b, r.Name, r.VHost)
	if b.Err != nil {
		return false, b.Err
	}
	created, err := r.Users.PutGrant(g)
	return created, grantFailure(err)
}

// granting returns the body of a request that grants permissions to the user in the virtual host, both of the path.
func granting(r *rest.Request, keys ...string) *rest.Body {
	_, user := r.Users.Account(r.Name)
	_, vhost := r.Users.VHost(r.VHost)
	if !user || !vhost {
		return &rest.Body{Err: errNobodyThere}
	}
	return r.JSON(keys...)
}

var errNobodyThere = rest.Complaint("vhost_or_user_not_found")

// grantFailure returns the error for a failed grant, nil for none.
func grantFailure(err error) error {
	var wrong *pattern.Error
	switch {
	case errors.Is(err, auth.ErrNoUser), errors.Is(err, auth.ErrNoVHost):
		return errNobodyThere
	case errors.As(err, &wrong):
		return rest.TupleOf("invalid_regexp", wrong.Source, []any{wrong.Message, wrong.At})
	}
	return rest.Invalid(err)
}

func grantOf(b *rest.Body, user, vhost string) auth.Grant {
	b.Need("configure", "write", "read")
	return auth.Grant{User: user, VHost: vhost, Configure: b.Text("configure"), Write: b.Text("write"), Read: b.Text("read")}
}

func deleteGrant(r *rest.Request) (bool, error) {
	if _, ok := r.Users.Grant(r.Name, r.VHost); !ok {
		return false, nil
	}
	return true, r.Users.DeleteGrant(r.Name, r.VHost)
}

// topicGrants are the topic permissions of the user and virtual host in the path. An exchange in the path is ignored,
// as in RabbitMQ.
var topicGrants = rest.Resource[topicItem]{
	Items: func(r *rest.Request) ([]topicItem, error) {
		items := []topicItem{}
		for _, g := range r.Users.TopicGrants(r.Name, r.VHost) {
			items = append(items, topicItem(g))
		}
		return items, nil
	},
	Name: func(i *topicItem) string { return i.User },
}

func putTopicGrant(r *rest.Request) (bool, error) {
	b := granting(r, "exchange", "write", "read")
	g := auth.TopicGrant{User: r.Name, VHost: r.VHost, Exchange: b.Text("exchange"), Write: b.Text("write"), Read: b.Text("read")}
	if b.Err != nil {
		return false, b.Err
	}
	if err := r.Users.CheckTopicGrant(g); err != nil {
		return false, grantFailure(err)
	}
	// As RabbitMQ since 4.3, this finds errors in names; an import of definitions, and a later deletion, keep the permissions.
	if x, err := r.Broker.Exchange(r.Context(), r.VHost, rest.ExchangeNamed(g.Exchange)); err != nil {
		return false, err
	} else if x == nil {
		return false, rest.TupleOf("no_such_exchange", g.Exchange)
	}
	created, err := r.Users.PutTopicGrant(g)
	// The resource exists if the user has any topic permission in the virtual host.
	return created && len(r.Users.TopicGrants(r.Name, r.VHost)) == 1, grantFailure(err)
}

// deleteTopicGrants deletes the topic permissions for the exchange in the path, or all without one.
func deleteTopicGrants(r *rest.Request) (bool, error) {
	if len(r.Users.TopicGrants(r.Name, r.VHost)) == 0 {
		return false, nil
	}
	exchange := r.Part("exchange")
	return true, r.Users.DeleteTopicGrants(r.Name, r.VHost, rest.ExchangeNamed(exchange), exchange == "")
}
