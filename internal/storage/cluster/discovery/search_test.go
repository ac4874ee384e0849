package discovery

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

type fixed struct {
	Found
	err error
}

func (f *fixed) Find(context.Context) (Found, error) { return f.Found, f.err }

// TestAgree_CLU30: nodes agree when they are enough, have different names, and were the same before; without a Finder nothing is noted.
func TestAgree_CLU30(t *testing.T) {
	s := Search{Finder: &fixed{}, Size: 2}
	const changed = "the nodes that were found are not those of a moment ago"
	for _, c := range []struct {
		ids  []string
		want []string
	}{
		{[]string{"a/1"}, []string{"1 of 2 nodes are there", changed}},
		{[]string{"a/1", "b/1"}, []string{changed}},
		{[]string{"a/1", "b/1"}, nil},
		{[]string{"a/1", "a/2", "b/1"}, []string{"there are two nodes with the name a", changed}},
		{[]string{"a/1", "b/1", "c/1"}, []string{changed}},
		{[]string{"a/1", "b/1", "c/1"}, nil},
	} {
		if got := s.Agree(c.ids); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.ids, got, c.want)
		}
	}
	if s.Roster() != "a/1 b/1 c/1" {
		t.Error(s.Roster())
	}
	for i := range 3 * maxNoted {
		s.Note(fmt.Sprint("n/", i), "h:1")
	}
	s.Note("a/1", "h:2")
	s.Note("", "h:3")
	if s.Noted("a/1") != "h:2" || s.Noted("") != "" || len(s.where) > maxNoted {
		t.Errorf("%v", s.where)
	}
	var none Search
	none.Note("a/1", "h:1")
	if none.On() || none.Agree([]string{"a/1"}) != nil || none.Noted("a/1") != "" || none.Find(nil) != nil {
		t.Error("something without a Finder")
	}
}

// TestFindAgain_CLU30: what was found stays when the Finder fails.
func TestFindAgain_CLU30(t *testing.T) {
	f := &fixed{Found: Found{Own: "h:1"}}
	s := Search{Finder: f}
	if err := s.Find(nil); err != nil {
		t.Fatal(err)
	}
	f.Found, f.err = Found{}, errors.New("no DNS")
	if err := s.Find(nil); !errors.Is(err, f.err) || s.Found().Own != "h:1" {
		t.Errorf("%v, %v", err, s.Found())
	}
}
