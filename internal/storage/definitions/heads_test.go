package definitions

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"candlemark/internal/access/auth"
)

// TestEveryBitOfTheMetaPages: a file with one flipped bit in a meta page has the newest definitions or is refused.
func TestEveryBitOfTheMetaPages(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := Wait(f, Change{Put: []any{auth.VHost{Name: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	pageSize := f.db.Info().PageSize
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	refused := 0
	for page := range 2 {
		for bit := range 8 * (headAt + headSize + 8) {
			flipped := slices.Clone(whole)
			flipped[page*pageSize+bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(filepath.Join(other, FileName), flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(other)
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("page %d, bit %d: %v", page, bit, err)
				}
				refused++
				continue
			}
			d, err := f.Load()
			if err != nil || d.Revision != 3 || len(d.VHosts) != 3 {
				t.Errorf("page %d, bit %d: revision %d, %v", page, bit, d.Revision, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if least := 2 * 8 * (headSize + 8); refused < least {
		t.Errorf("%d are refused, want at least %d", refused, least)
	}
}

// TestEnded: the incarnation of a queue that is deleted or replaced is listed as ended until it is removed from this list.
func TestEnded(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		put := func(v ...any) { m.must(t, Change{Put: v}) }
		want := func(ended ...uint64) {
			t.Helper()
			if got := m.all(t).Ended; !slices.Equal(got, ended) {
				t.Errorf("ended %v, want %v", got, ended)
			}
		}
		q := func(name string, n uint64) Queue {
			return Queue{VHost: "v", Name: name, Type: "classic", Incarnation: n}
		}
		put(auth.VHost{Name: "v"}, q("a", 1), q("b", 2), q("c", 3), q("d", 4))
		want()
		put(q("a", 1)) // the same
		want()
		m.must(t, remove(q("a", 0)))
		want(1)
		put(q("b", 5)) // a new queue of the same name
		want(1, 2)
		m.must(t, remove(Ended(1), q("c", 3)))
		want(2, 3)
		m.must(t, remove(auth.VHost{Name: "v"}))
		want(2, 3, 5, 4)
		m.must(t, remove(Ended(2), Ended(3), Ended(4), Ended(5)))
		m.must(t, remove(Ended(9)))
		want()
		m.must(t, Change{Put: []any{auth.VHost{Name: "v"}, q("e", 6)}})
		m.must(t, remove(q("e", 6)))
		if got := m.reopen(t).all(t).Ended; !slices.Equal(got, []uint64{6}) {
			t.Errorf("ended %v", got)
		}
	})
}
