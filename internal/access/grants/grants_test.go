package grants

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"candlemark/internal/access/auth"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The grant with the longest scope that covers an address is used. Scopes match whole path segments and ignore case; a
// new grant replaces the one with the same scope.
func TestAt(t *testing.T) {
	var table Table
	if table.At("q") != nil || table.Next() != Never {
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
	if ended := table.Ended(20); len(ended) != 2 || table.Next() != 30 {
		t.Errorf("%q have ended, the next end is %d", ended, table.Next())
	}
	if err := table.Put("sb://host/", &Grant{Ends: Never}); err != nil || table.At("anything") == nil || table.At("a").User.Name != "1" || table.Generation() != 7 {
		t.Error(err, table.Generation())
	}
}

// Ended reports each grant that ended since the last call once.
func TestEnded(t *testing.T) {
	var table Table
	for scope, ends := range map[string]int64{"a": 10, "b": 20, "c": Never} {
		if err := table.Put(scope, &Grant{Ends: ends}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		now  int64
		want string
		next int64
	}{{9, "[]", 10}, {10, "[a]", 20}, {19, "[]", 20}, {20, "[b]", Never}, {1 << 40, "[]", Never}} {
		if got := fmt.Sprint(table.Ended(c.now)); got != c.want || table.Next() != c.next {
			t.Errorf("until %d: %s, want %s; the next is %d", c.now, got, c.want, table.Next())
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
	for i := range Max {
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

// Put allocates as much for each token with many grants as with one, also when it replaces a grant; replaced grants leave no entry.
func TestPut_Cost(t *testing.T) {
	bytes := func(n int) uint64 {
		var table Table
		put := func(i int) {
			if err := table.Put(fmt.Sprint("sb://host/", i%n), &Grant{Ends: int64(1000 + i)}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			put(i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 10 * Max {
			put(n + i)
		}
		runtime.ReadMemStats(&after)
		if len(table.ends) != n {
			t.Errorf("%d ends of %d grants", len(table.ends), n)
		}
		return (after.TotalAlloc - before.TotalAlloc) / (10 * Max)
	}
	if one, many := bytes(1), bytes(Max); many > 2*one+64 {
		t.Errorf("%d bytes for a token among %d, %d bytes for one alone", many, Max, one)
	}
}

// For any order of puts and ends, each ended grant is reported once, and the newest grant of a scope is used.
func TestEndsRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var table Table
		model := map[string]int64{}
		for now := int64(1); now < 100; now++ {
			scope, ends := string(rune('a'+r.IntN(10))), now+1+r.Int64N(30)
			if r.IntN(8) == 0 {
				ends = Never
			}
			if err := table.Put(scope, &Grant{Ends: ends}); err != nil {
				t.Fatal(err)
			}
			model[scope] = ends
			ended, next := table.Ended(now), table.Next()
			slices.Sort(ended)
			var want []string
			first := int64(Never)
			for s, at := range model {
				switch {
				case at <= now:
					want = append(want, s)
					delete(model, s)
				default:
					first = min(first, at)
				}
			}
			slices.Sort(want)
			if !slices.Equal(ended, want) || next != first || table.At(scope).Ends != ends {
				t.Fatalf("at %d: %q, want %q; next %d, want %d", now, ended, want, next, first)
			}
		}
	}
}
