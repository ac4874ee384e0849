package session10

import (
	"strconv"
	"testing"

	"candlemark/actors/client/session10/dialects"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/grants"
	"candlemark/internal/routing/topology"
	"candlemark/protocol/amqp10"
)

// counting counts permission checks.
type counting struct {
	users.Fixed
	n int
}

// Check implements auth.Permissions.
func (c *counting) Check(u auth.User, vhost string, r auth.Resource, p auth.Permission) error {
	c.n++
	return c.Fixed.Check(u, vhost, r, p)
}

// A new token triggers checks only of links below its address, for any number of others.
func TestRecheck_Bound(t *testing.T) {
	v := topology.NewVHost("/")
	asked := &counting{}
	s := idle(func(cfg *Config) {
		cfg.User, cfg.VHost, cfg.Permissions, cfg.Tokens = auth.User{Name: "login"}, v, asked, &grants.Table{}
	})
	for i := range uint32(200) {
		name := "x" + strconv.Itoa(int(i))
		v.Publish(v.Directory().WithExchange(&topology.Exchange{Name: name, Type: "fanout"}))
		d, err := dialects.Of(&amqp10.Attach{Role: amqp10.RoleSender, Target: &amqp10.Target{Address: amqp10.Some(name)}}, &s.access, &s.limits)
		if err != nil {
			t.Fatal(err)
		}
		s.links[i] = &link{handle: i, address: name, dialect: d, publisher: &publisher{}}
		s.links[i].publisher.ToEntity(name, name, "", 1<<30)
		if err := s.access.Tokens.Put(name, &grants.Grant{User: auth.User{Name: "key"}, Ends: grants.Never}); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		asked.n = 0
		s.recheck.Add("sb://host/X7")
		s.recheckLinks()
		if asked.n != 1 || s.recheck.Any() {
			t.Fatalf("%d links are checked", asked.n)
		}
	}
	asked.Refused = []users.Refusal{{User: "key", Resource: auth.Resource{Kind: auth.Exchange, Name: "x7"}, Permission: auth.Write}}
	s.recheck.Add("x7")
	s.recheckLinks()
	if !s.links[7].closing || s.links[8].closing {
		t.Error("links are detached by whether their token allows them")
	}
}
