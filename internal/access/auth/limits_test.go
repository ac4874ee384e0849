package auth

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

func TestParseLimits(t *testing.T) {
	for _, c := range []struct{ raw, vhost, user string }{
		{`{}`, "", ""},
		{`{"max-connections":5}`, "", ""},
		{`{"max-connections":-1}`, "", ""},
		{`{"max-queues":3}`, "", `Unrecognised terms [{<<"max-queues">>,3}] in user-limits`},
		{`{"max-channels":"3"}`, "Validation failed\n\nUnrecognised terms [{<<\"max-channels\">>,<<\"3\">>}] in limits\n", `max-channels should be a number, actually was <<"3">>`},
		{`{"max-connections":1.5}`, "Validation failed\n\nmax-connections should be a number, actually was 1.5\n", "max-connections should be a number, actually was 1.5"},
		{`{"max-connections":null}`, "Validation failed\n\nmax-connections should be a number, actually was null\n", "max-connections should be a number, actually was null"},
		{`[1]`, "Validation failed\n\nlimits not a list [1]\n", "user-limits not a list [1]"},
	} {
		if _, err := ParseVHostLimits([]byte(c.raw)); text(err) != c.vhost {
			t.Errorf("vhost %s: %q", c.raw, text(err))
		}
		if _, err := ParseUserLimits([]byte(c.raw)); text(err) != c.user {
			t.Errorf("user %s: %q", c.raw, text(err))
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestLimitsReached(t *testing.T) {
	l := Limits{MaxConnections: 2, MaxQueues: -1, MaxChannels: 0}
	for _, c := range []struct {
		name  string
		count int
		limit int64
		want  bool
	}{{MaxConnections, 1, 2, false}, {MaxConnections, 2, 2, true}, {MaxQueues, 1000, -1, false}, {MaxChannels, 0, 0, true}, {"max-foo", 7, 0, false}} {
		if limit, reached := l.Reached(c.name, c.count); limit != c.limit || reached != c.want {
			t.Errorf("%s at %d: %d %v", c.name, c.count, limit, reached)
		}
	}
}

func TestSetLimits(t *testing.T) {
	u := NewGuest()
	var seen []Change
	u.Observe(func(c Change) error {
		seen = append(seen, c)
		return nil
	})
	set := func(name string, n int64) func(Limits) Limits {
		return func(l Limits) Limits {
			l[name] = n
			return l
		}
	}
	if err := errors.Join(u.SetVHostLimits("/", set(MaxQueues, 7)), u.SetUserLimits("guest", set(MaxChannels, 3)), u.SetUserLimits("guest", set(MaxConnections, 1))); err != nil {
		t.Fatal(err)
	}
	v, _ := u.VHost("/")
	a, _ := u.Account("guest")
	if !maps.Equal(v.Limits, Limits{MaxQueues: 7}) || !maps.Equal(a.Limits, Limits{MaxChannels: 3, MaxConnections: 1}) {
		t.Fatal(v.Limits, a.Limits)
	}
	if stored := seen[0].Put[0].(VHost); !maps.Equal(stored.Limits, v.Limits) || len(seen) != 3 {
		t.Fatalf("the observer saw %+v", seen)
	}

	// A PUT without limits keeps the existing ones.
	v.Limits, a.Limits = nil, nil
	_, errV := u.PutVHost(v)
	_, errA := u.PutAccount(a)
	v, _ = u.VHost("/")
	a, _ = u.Account("guest")
	if errV != nil || errA != nil || len(v.Limits) != 1 || len(a.Limits) != 2 {
		t.Fatal(errV, errA, v.Limits, a.Limits)
	}
	revision := u.Revision()
	same := u.SetVHostLimits("/", func(l Limits) Limits { return l })
	wrong := u.SetVHostLimits("/", set(MaxChannels, 1))
	if u.Revision() != revision || same != nil || wrong == nil {
		t.Fatal(u.Revision(), same, wrong)
	}
	if err := errors.Join(
		u.SetVHostLimits("/", func(Limits) Limits { return Limits{} }), u.SetUserLimits("guest", func(Limits) Limits { return Limits{} }),
	); err != nil {
		t.Fatal(err)
	}
	v, _ = u.VHost("/")
	a, _ = u.Account("guest")
	if v.Limits != nil || a.Limits != nil {
		t.Fatal(v.Limits, a.Limits)
	}
	none := func(l Limits) Limits { return l }
	if errs := []error{u.SetVHostLimits("nope", none), u.SetUserLimits("nope", none)}; !slices.Equal(errs, []error{ErrNoVHost, ErrNoUser}) {
		t.Fatal(errs)
	}
}
