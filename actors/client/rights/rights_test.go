package rights

import (
	"testing"

	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rights(user auth.User, refused ...auth.Permission) *Rights {
	v := topology.NewVHost("/")
	v.Publish(v.Directory().WithExchange(&topology.Exchange{Name: "inner", Internal: true}))
	f := &users.Fixed{}
	for _, p := range refused {
		for _, kind := range []auth.Kind{auth.Queue, auth.Exchange} {
			f.Refused = append(f.Refused, users.Refusal{User: user.Name, Resource: auth.Resource{Kind: kind, Name: "a"}, Permission: p})
		}
	}
	return &Rights{User: user, VHost: v, Permissions: f}
}

func TestRights(t *testing.T) {
	guest := auth.User{Name: "guest"}
	const no = "channel error 403: ACCESS_REFUSED - "
	const a = " access to queue 'a' in vhost '/' refused for user 'guest'"
	leading := protocol.Table{{Key: "x-dead-letter-exchange", Value: "a"}}
	writable := func(r *Rights, name string) error { _, err := r.Writable([]byte(name)); return err }
	readable := func(r *Rights, name string) error { _, err := r.Readable(name); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{rights(guest, auth.Read, auth.Configure).Any(auth.Queue, "a"), ""},
		{rights(guest, auth.Read, auth.Write, auth.Configure).Any(auth.Queue, "a"), no + "configure" + a},
		{rights(guest, auth.Configure).Make(leading, "a"), ""},
		{rights(guest, auth.Read).Make(leading, "a"), no + "read" + a},
		{rights(guest, auth.Write).Make(leading, "b"), no + "write access to exchange 'a' in vhost '/' refused for user 'guest'"},
		{readable(rights(guest, auth.Read), "a"), no + "read" + a},
		{readable(rights(guest), "a"), "channel error 404: NOT_FOUND - no queue 'a' in vhost '/'"},
		{writable(rights(guest, auth.Write), "a"), no + "write access to exchange 'a' in vhost '/' refused for user 'guest'"},
		{writable(rights(guest), "a"), "channel error 404: NOT_FOUND - no exchange 'a' in vhost '/'"},
		{writable(rights(guest), "inner"), no + "cannot publish to internal exchange 'inner' in vhost '/'"},
		{rights(guest).UserID([]byte("guest")), ""},
		{rights(guest).UserID([]byte("b")), "channel error 406: PRECONDITION_FAILED - user_id property set to 'b' but authenticated user was 'guest'"},
		{rights(auth.User{Name: "guest", Tags: []string{"impersonator"}}).UserID([]byte("b")), ""},
	} {
		got := ""
		if c.err != nil {
			got = c.err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
