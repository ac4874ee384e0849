package definitions

import (
	"fmt"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/protocol"
)

// Deleting a virtual host deletes all its objects, and none of a virtual host whose name has the same prefix.
func TestVHostTakesAllAlong(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		want := sample("/ab")
		for _, vhost := range []string{"/a", "/a\x00", "/ab"} {
			m.must(t, sample(vhost).change())
		}
		m.must(t, remove(auth.VHost{Name: "/a"}))
		m.must(t, remove(auth.VHost{Name: "/a\x00"}))
		got := m.reopen(t).all(t)
		want.Revision, want.Ended = 5, got.Ended
		if len(got.Ended) != 2*len(want.Queues) { // the queues of both virtual hosts
			t.Errorf("ended: %v", got.Ended)
		}
		if !equal(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}

// An object is deleted by its identifying fields; deleting a missing object is no error.
func TestDelete(t *testing.T) {
	d := sample("/")
	for _, v := range d.change().Put[1:] {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			both(t, func(t *testing.T, m *keeper) {
				m.must(t, d.change())
				before := m.all(t)
				m.must(t, remove(v))
				m.must(t, remove(v))
				m.must(t, remove(nameOf(v)))
				if got := m.reopen(t).all(t); equal(got, before) {
					t.Errorf("%v is still there", v)
				}
			})
		})
	}
}

// nameOf returns v with its identifying fields only.
func nameOf(v any) any {
	switch v := v.(type) {
	case auth.Account:
		return auth.Account{Name: v.Name}
	case auth.Grant:
		return auth.Grant{User: v.User, VHost: v.VHost}
	case Exchange:
		return Exchange{VHost: v.VHost, Name: v.Name}
	case Queue:
		return Queue{VHost: v.VHost, Name: v.Name}
	}
	return v
}

// The bindings of a queue or exchange are deleted with it; bindings of an exchange or queue of the same name stay.
func TestBindingsEndWithEitherEnd(t *testing.T) {
	bind := func(vhost, source, destination string, toExchange bool) Binding {
		return Binding{VHost: vhost, Source: source, Destination: destination, ToExchange: toExchange, RoutingKey: "k"}
	}
	all := []Binding{
		bind("/", "amq.direct", "a", false), bind("/", "amq.direct", "a", true), bind("/", "a", "b", false),
		bind("/", "a", "b", true), bind("/", "ab", "ab", false), bind("v", "a", "a", false),
	}
	tests := []struct {
		gone any
		left []int
	}{
		{Queue{VHost: "/", Name: "a"}, []int{1, 2, 3, 4, 5}},
		{Exchange{VHost: "/", Name: "a"}, []int{0, 4, 5}},
		{Exchange{VHost: "v", Name: "a"}, []int{0, 1, 2, 3, 4}},
		{Queue{VHost: "v", Name: "a"}, []int{0, 1, 2, 3, 4}},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			both(t, func(t *testing.T, m *keeper) {
				c := put(auth.VHost{Name: "/"}, auth.VHost{Name: "v"})
				for _, b := range all {
					c.Put = append(c.Put, b)
				}
				m.must(t, c)
				m.must(t, remove(tt.gone))
				left := map[string]bool{}
				for _, b := range m.reopen(t).all(t).Bindings {
					left[fmt.Sprint(b)] = true
				}
				if len(left) != len(tt.left) {
					t.Errorf("left %v", left)
				}
				for _, j := range tt.left {
					if !left[fmt.Sprint(all[j])] {
						t.Errorf("%v is gone", all[j])
					}
				}
			})
		})
	}
}

// Bindings are distinguished by types and values of their arguments, not by their order.
func TestBindingIdentity(t *testing.T) {
	bind := func(t protocol.Table) Binding {
		return Binding{VHost: "/", Source: "s", Destination: "d", Arguments: t}
	}
	a, b := protocol.Field{Key: "a", Value: int32(1)}, protocol.Field{Key: "b", Value: "x"}
	both(t, func(t *testing.T, m *keeper) {
		m.must(t, put(auth.VHost{Name: "/"}, bind(nil), bind(protocol.Table{a, b}), bind(protocol.Table{{Key: "a", Value: int64(1)}, b})))
		m.must(t, put(bind(protocol.Table{b, a})))
		if got := len(m.all(t).Bindings); got != 3 {
			t.Errorf("%d bindings", got)
		}
		m.must(t, remove(bind(protocol.Table{a, b}), bind(nil)))
		if got := m.reopen(t).all(t).Bindings; len(got) != 1 || got[0].Arguments[0].Value != int64(1) {
			t.Errorf("left %+v", got)
		}
	})
}
