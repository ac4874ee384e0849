package auth

import (
	"errors"
	"testing"
)

func TestQuota(t *testing.T) {
	u := NewGuest()
	q := NewQuota(u, 3)
	limit := func(name string, n int64) func(Limits) Limits {
		return func(l Limits) Limits {
			l[name] = n
			return l
		}
	}
	expect := func(err error, want string) {
		t.Helper()
		if want != "" {
			want = "connection error 530: NOT_ALLOWED - " + want
		}
		if text(err) != want {
			t.Fatalf("%v, want %q", err, want)
		}
	}
	for range 3 {
		expect(q.Connect("guest", "/"), "")
	}
	expect(q.Connect("guest", "/"), "connection refused: node connection limit (3) is reached")
	q.SetConnections(-1)
	expect(q.Connect("guest", "/"), "")
	q.SetConnections(3)
	expect(q.Connect("guest", "/"), "connection refused: node connection limit (3) is reached")
	q.Disconnect("guest", "/")
	q.Disconnect("guest", "/")
	if err := errors.Join(u.SetVHostLimits("/", limit(MaxConnections, 1)), u.SetUserLimits("guest", limit(MaxConnections, 2)), u.SetUserLimits("guest", limit(MaxChannels, 1))); err != nil {
		t.Fatal(err)
	}
	expect(q.Connect("guest", "/"), "access to vhost '/' refused for user 'guest': connection limit (1) is reached")
	expect(q.Connect("guest", "other"), "connection refused for user 'guest': user connection limit (2) is reached")
	expect(q.Connect("other", "other"), "")
	q.Disconnect("other", "other")
	q.Disconnect("guest", "/")
	q.Disconnect("guest", "/")
	expect(q.Connect("guest", "/"), "")
	expect(q.OpenChannel("guest"), "")
	expect(q.OpenChannel("guest"), "number of channels opened for user 'guest' has reached the maximum allowed user limit of (1)")
	expect(q.OpenChannel("other"), "")
	q.CloseChannel("guest")
	expect(q.OpenChannel("guest"), "")
	q.CloseChannel("guest")
	q.CloseChannel("other")
	q.Disconnect("guest", "/")
	if q.open != 0 || len(q.byVHost)+len(q.byUser)+len(q.channels) != 0 {
		t.Fatalf("%+v", q)
	}
}
