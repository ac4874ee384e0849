package definitions

import (
	"errors"
	"path/filepath"
	"testing"

	"candlemark/internal/access/auth"
)

// through encodes and decodes a change.
func through(t *testing.T, c Change) Change {
	t.Helper()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeChange(b)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestReplica_CLU1: a change that was encoded for other nodes has the same effect there.
func TestReplica_CLU1(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		here := NewMemory()
		defer here.Close()
		s := sample("v")
		list := []Change{put(auth.VHost{Name: "other"}), s.change(), sample("w").change(), put(Incarnation(99))}
		for _, x := range s.Bindings[:1] {
			list = append(list, remove(x))
		}
		for _, x := range s.Queues[:1] {
			x.Ending = "deleted"
			list = append(list, put(x), remove(x), remove(Ended(x.Incarnation)))
		}
		for _, x := range s.Exchanges[:1] {
			list = append(list, remove(x))
		}
		for _, x := range s.Policies {
			list = append(list, remove(x))
		}
		list = append(list, remove(auth.VHost{Name: "w"}), put(Queue{VHost: "missing", Name: "q"}))
		for i, c := range list {
			copied := through(t, c)
			_, want := Wait(here, c)
			if _, err := Wait(m, copied); !errors.Is(err, want) {
				t.Errorf("change %d: %v here, %v there", i, want, err)
			}
		}
		want, err := here.Load()
		if err != nil {
			t.Fatal(err)
		}
		if got := m.reopen(t).all(t); !equal(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
	})
}

func TestDecodeChange_Damaged(t *testing.T) {
	for _, text := range []string{"", "[", `[{"o":1}]`, `[{"o":112,"t":"queues","k":"eA=="}]`, `[{"o":112,"t":"bindings","k":"eA=="}]`} {
		if _, err := DecodeChange([]byte(text)); err == nil {
			t.Errorf("%s was decoded", text)
		}
	}
	c, err := DecodeChange([]byte(`[{"o":112,"t":"broker","k":"eA=="}]`))
	if err != nil {
		t.Fatal(err)
	}
	m := NewMemory()
	defer m.Close()
	if _, err := Wait(m, c); err == nil {
		t.Error("a change of the counts was stored")
	}
}

// TestEntry_CLU3: a change of an entry that is stored already is not stored again, also after a restart.
func TestEntry_CLU3(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(entry uint64, c Change) Change {
		c.Entry = entry
		return c
	}
	first := at(5, put(auth.VHost{Name: "a"}))
	for _, c := range []Change{first, at(6, remove(auth.VHost{Name: "a"})), first} {
		if _, err := Wait(f, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Wait(f, first); err != nil {
		t.Fatal(err)
	}
	d, err := f.Load()
	entry, failed := f.Entry()
	if err != nil || failed != nil || len(d.VHosts) != 0 || entry != 6 || d.Revision != 2 {
		t.Errorf("%+v, entry %d: %v, %v", d, entry, err, failed)
	}
	if _, err := Wait(f, put(auth.VHost{Name: "b"})); err != nil {
		t.Fatal(err)
	}
	if entry, err := f.Entry(); entry != 0 || err != nil {
		t.Errorf("a broker alone has changed it, and the last entry is %d, %v", entry, err)
	}
}

// TestMark_CLU2: a marked folder is refused by brokers without a cluster, of older versions, too, and a broker's folder by nodes.
func TestMark_CLU2(t *testing.T) {
	dir := t.TempDir()
	m, err := Mark(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Mark(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("twice: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrCluster) {
		t.Errorf("a broker: %v", err)
	}
	if m, err = Mark(dir); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if clusterFormat <= formatVersion {
		t.Error("an older version would not refuse the folder")
	}
	single := filepath.Join(t.TempDir(), "single")
	f, err := Open(single)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Wait(f, put(auth.VHost{Name: "a"})); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := Mark(single); !errors.Is(err, ErrSingle) {
		t.Errorf("a node: %v", err)
	}
}

// TestDeleteWithoutContent_CLU1: what is deleted is named, and needs no content: a parameter has no value then.
func TestDeleteWithoutContent_CLU1(t *testing.T) {
	b, err := Change{Delete: []any{Parameter{VHost: "/", Component: "c", Name: "n"}, Global{Name: "g"}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := DecodeChange(b); err != nil || len(c.Delete) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}
