package grants

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/internal/auth"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The longest scope that covers an address counts, by whole parts and without regard to case; one of the same scope takes the place of another.
func TestAt(t *testing.T) {
	var table Table
	if table.At("q") != nil || table.Next(0) != Never {
		t.Error("an empty table has grants")
	}
	for i, scope := range []string{"sb://host/old", "sb://host/a", "amqp://host:5/A/B/", "t/subscriptions/s", "q/$management", "sb://host/old"} {
		if err := table.Put(scope, &Grant{User: auth.User{Name: fmt.Sprint(i)}, Ends: int64(10 * i)}); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]string{
		"old": "5", "a": "1", "A": "1", "a/c": "1", "a/b": "2", "a/b/$DeadLetterQueue": "2", "ab": "", "t": "", "t/Subscriptions/s/$management": "3", "q": "",
		"q/$management": "4", "": "",
	} {
		got := ""
		if g := table.At(address); g != nil {
			got = g.User.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	if n := table.Next(20); n != 30 {
		t.Errorf("the next end is %d", n)
	}
	if err := table.Put("sb://host/", &Grant{Ends: Never}); err != nil || table.At("anything") == nil || table.At("a").User.Name != "1" || table.Generation() != 7 {
		t.Error(err, table.Generation())
	}
}

// Who asks for what has ended since it asked before is told each end once.
func TestEnded(t *testing.T) {
	var table Table
	for scope, ends := range map[string]int64{"a": 10, "b": 20, "c": Never} {
		if err := table.Put(scope, &Grant{Ends: ends}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		from, now int64
		want      string
	}{{0, 9, "[]"}, {9, 10, "[a]"}, {10, 19, "[]"}, {10, 20, "[b]"}, {20, 1 << 40, "[]"}} {
		if got := fmt.Sprint(table.Ended(c.from, c.now)); got != c.want {
			t.Errorf("behind %d, until %d: %s, want %s", c.from, c.now, got, c.want)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		scope, address string
		want           bool
	}{
		{"", "q", true}, {"sb://host/Q", "q", true}, {"q", "sb://host/q/$management", true}, {"q", "qq", false}, {"q/$management", "q", false}, {"t", "t/Subscriptions/s", true},
	} {
		if got := Covers(c.scope, c.address); got != c.want {
			t.Errorf("%s covers %s: %v", c.scope, c.address, got)
		}
	}
}

func TestPut_Bound(t *testing.T) {
	var table Table
	for i := range Most {
		if err := table.Put(fmt.Sprint(i), &Grant{}); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := table.Put("more", &Grant{}); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	if err := table.Put("7", &Grant{Ends: 5}); err != nil || table.At("7").Ends != 5 {
		t.Error("a token cannot be renewed:", err)
	}
}
