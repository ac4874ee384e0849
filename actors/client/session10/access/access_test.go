package access

import (
	"testing"
	"time"

	"candlemark/actors/client/rights"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/grants"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The sender's cache is invalidated when tokens change or expire, and when names change.
func TestSender(t *testing.T) {
	v := topology.NewVHost("/")
	v.Publish(v.Directory().WithExchange(&topology.Exchange{Name: "topic", Type: "fanout"}))
	refused := &users.Fixed{Refused: []users.Refusal{{User: "key", Resource: auth.Resource{Kind: auth.Exchange, Name: "topic"}, Permission: auth.Write}}}
	a := &Access{Login: &rights.Rights{User: auth.User{Name: "login"}, VHost: v, Permissions: refused}, Tokens: &grants.Table{}, Clock: clock.New()}
	var s Sender
	check := func(want bool) {
		t.Helper()
		x, err := s.Check(a, "topic", []byte("topic"), nil)
		if (err == nil) != want || want && x.Name != "topic" {
			t.Errorf("%v, %v", x, err)
		}
	}
	put := func(user string, ends int64) {
		t.Helper()
		if err := a.Tokens.Put("sb://host/topic", &grants.Grant{User: auth.User{Name: user}, Ends: ends}); err != nil {
			t.Fatal(err)
		}
	}
	check(true)
	check(true)
	put("key", grants.Never)
	check(false)
	put("other", grants.Never)
	check(true)
	if s.UserID([]byte("other")) != nil || s.UserID([]byte("login")) == nil {
		t.Error("the user is not that of the key")
	}
	put("other", time.Now().Add(-time.Second).UnixMilli())
	check(false)
	put("other", grants.Never)
	check(true)
	v.Publish(&topology.Directory{})
	check(false)
}
