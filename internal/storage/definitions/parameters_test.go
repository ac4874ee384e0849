package definitions

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
)

func TestParameters(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		if _, err := Wait(m, Change{Put: []any{auth.VHost{Name: "a"}, auth.VHost{Name: "b"}}}); err != nil {
			t.Fatal(err)
		}
		ps := NewParameters(m, m.all(t).Parameters, nil)
		for i, s := range []struct {
			p   Parameter
			was bool
		}{
			{Parameter{Component: "shovel", VHost: "b", Name: "x", Value: []byte(`1`)}, false},
			{Parameter{Component: "shovel", VHost: "a", Name: "x", Value: []byte(`{ "k": 2.50 }`)}, false},
			{Parameter{Component: "shovel", VHost: "a", Name: "x", Value: []byte(`{"k":3}`), Setter: parameters.Setter{User: "u\n{}"}}, true},
			{Parameter{Component: "federation-upstream", VHost: "a", Name: "x", Value: []byte(`4`), Setter: parameters.Setter{Operator: true}}, false},
		} {
			if created, err := ps.Put(s.p); created == s.was || err != nil {
				t.Errorf("step %d: %t, %v", i, created, err)
			}
		}
		if _, err := ps.Put(Parameter{Component: "shovel", VHost: "nowhere", Name: "x", Value: []byte(`1`)}); !errors.Is(err, ErrNoVHost) {
			t.Error(err)
		}
		m = m.reopen(t)
		ps = NewParameters(m, m.all(t).Parameters, nil)
		got, want := "", "federation-upstream a x 4 { true}, shovel a x {\"k\":3} {u\n{} false}, shovel b x 1 { false}, "
		for _, p := range ps.All("") {
			got += fmt.Sprintf("%s %s %s %s %v, ", p.Component, p.VHost, p.Name, p.Value, p.Setter)
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if found, err := ps.Delete(Parameter{Component: "shovel", VHost: "a", Name: "x"}); !found || err != nil {
			t.Error(found, err)
		}
		if found, err := ps.Delete(Parameter{Component: "shovel", VHost: "a", Name: "x"}); found || err != nil {
			t.Error(found, err)
		}
		ps.Forget("b")
		if len(ps.All("a")) != 1 || len(ps.All("b")) != 0 {
			t.Errorf("%v", ps.All(""))
		}
	})
}

// The parameters of a component in a virtual host are bounded in number; at the limit, existing ones can still be replaced.
func TestParametersAreCounted(t *testing.T) {
	ps := NewParameters(nil, nil, nil)
	put := func(vhost string, i int) error {
		_, err := ps.Put(Parameter{Component: "shovel", VHost: vhost, Name: fmt.Sprint(i), Value: []byte(`1`)})
		return err
	}
	for i := range parameters.MaxParameters {
		if err := put("a", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("a", parameters.MaxParameters); err == nil || !errors.As(err, new(parameters.Refusal)) {
		t.Error(err)
	}
	if err := errors.Join(put("a", 0), put("b", 0)); err != nil {
		t.Error(err)
	}
}
