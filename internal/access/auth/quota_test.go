package auth

import (
	"errors"
	"testing"
)

func TestQuota(t *testing.T) {
	u := NewGuest()
	q := NewQuota(u, 3, -1)
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
	q.SetNode(-1, -1)
	expect(q.Connect("guest", "/"), "")
	q.SetNode(3, -1)
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
	expect(q.OpenChannel("guest", "n"), "")
	expect(q.OpenChannel("guest", "n"), "number of channels opened for user 'guest' has reached the maximum allowed user limit of (1)")
	expect(q.OpenChannel("other", "n"), "")
	q.CloseChannel("guest")
	expect(q.OpenChannel("guest", "n"), "")
	q.SetNode(-1, 2)
	expect(q.OpenChannel("third", "n"), "number of channels opened on node 'n' has reached the maximum allowed limit of (2)")
	q.CloseChannel("guest")
	expect(q.OpenChannel("third", "n"), "")
	q.CloseChannel("third")
	q.CloseChannel("other")
	q.Disconnect("guest", "/")
	if q.open != 0 || q.opened != 0 || len(q.byVHost)+len(q.byUser)+len(q.channels) != 0 {
		t.Fatalf("%+v", q)
	}
}
