package httpapi

import (
	"errors"

	"candlemark/internal/auth"
	"candlemark/policies"
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

// ofUser is for what is only there if the user of the path is.
func ofUser(r *request) error {
	if err := administrator(r); err != nil {
		return err
	}
	if _, known := r.users.Account(r.name); !known {
		return errNotFound
	}
	return nil
}

// grants are those of the user and virtual host of the path.
var grants = resource[grantItem]{
	func(r *request) ([]grantItem, error) {
		items := []grantItem{}
		for _, g := range r.users.Grants(r.name, r.vhost) {
			items = append(items, grantItem(g))
		}
		return items, nil
	},
	func(i *grantItem) string { return i.User },
}

func putGrant(r *request) (bool, error) {
	b, err := granting(r)
	if err != nil {
		return false, err
	}
	g := grantOf(b, r.name, r.vhost)
	if b.err != nil {
		return false, b.err
	}
	created, err := r.users.PutGrant(g)
	return created, grantFailure(err)
}

// granting is the body of a request that gives something to the user of the path
// in the virtual host of the path.
func granting(r *request, keys ...string) (*body, error) {
	_, user := r.users.Account(r.name)
	_, vhost := r.users.VHost(r.vhost)
	if !user || !vhost {
		return nil, errNobodyThere
	}
	return r.json(keys...)
}

var errNobodyThere = complaint("vhost_or_user_not_found")

// grantFailure says why nothing was given, nil if it was.
func grantFailure(err error) error {
	var wrong *policies.ExpressionError
	switch {
	case errors.Is(err, auth.ErrNoUser), errors.Is(err, auth.ErrNoVHost):
		return errNobodyThere
	case errors.As(err, &wrong):
		return tupleOf("invalid_regexp", wrong.Source, []any{wrong.Message, wrong.At})
	}
	return invalid(err)
}

func grantOf(b *body, user, vhost string) auth.Grant {
	b.need("configure", "write", "read")
	return auth.Grant{User: user, VHost: vhost, Configure: b.text("configure"), Write: b.text("write"), Read: b.text("read")}
}

func deleteGrant(r *request) (bool, error) {
	if _, ok := r.users.Grant(r.name, r.vhost); !ok {
		return false, nil
	}
	return true, r.users.DeleteGrant(r.name, r.vhost)
}

// topicGrants are those of the user and virtual host of the path. An exchange
// in it means nothing, as in RabbitMQ.
var topicGrants = resource[topicItem]{
	func(r *request) ([]topicItem, error) {
		items := []topicItem{}
		for _, g := range r.users.TopicGrants(r.name, r.vhost) {
			items = append(items, topicItem(g))
		}
		return items, nil
	},
	func(i *topicItem) string { return i.User },
}

func putTopicGrant(r *request) (bool, error) {
	b, err := granting(r, "exchange", "write", "read")
	if err != nil {
		return false, err
	}
	g := auth.TopicGrant{User: r.name, VHost: r.vhost, Exchange: b.text("exchange"), Write: b.text("write"), Read: b.text("read")}
	if b.err != nil {
		return false, b.err
	}
	created, err := r.users.PutTopicGrant(g)
	// A user who holds some in the virtual host has this resource.
	return created && len(r.users.TopicGrants(r.name, r.vhost)) == 1, grantFailure(err)
}

// deleteTopicGrants deletes those for the exchange in the path, without one all.
func deleteTopicGrants(r *request) (bool, error) {
	if len(r.users.TopicGrants(r.name, r.vhost)) == 0 {
		return false, nil
	}
	exchange := r.part("exchange")
	return true, r.users.DeleteTopicGrants(r.name, r.vhost, exchangeNamed(exchange), exchange == "")
}
