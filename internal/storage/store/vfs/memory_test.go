package vfs

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// outcomes crashes 500 times and counts the different results.
func outcomes(t *testing.T, prepare func(m *Memory), look func(m *Memory) string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(500) {
		m := NewMemory(seed)
		prepare(m)
		m.Crash()
		seen[look(m)]++
	}
	return seen
}

func TestCrashKeepsWhatWasSynced(t *testing.T) {
	seen := outcomes(t, func(m *Memory) {
		f := create(t, m, "a", 8192)
		writeAt(t, f, strings.Repeat("s", 5000), 0)
		must(t, f.Sync())
		must(t, m.SyncDir("."))
		writeAt(t, f, strings.Repeat("1", 2000), 300)
		writeAt(t, f, strings.Repeat("2", 2000), 1000)
	}, func(m *Memory) string {
		got := content(t, m, "a")
		if got[:300] != strings.Repeat("s", 300) || got[3000:] != strings.Repeat("s", 2000)+string(make([]byte, 3192)) {
			t.Fatalf("what was synced is gone: %q", got)
		}
		// The runs of equal bytes, without their lengths.
		var runs []byte
		for _, b := range []byte(got[:5000]) {
			if len(runs) == 0 || runs[len(runs)-1] != b {
				runs = append(runs, b)
			}
		}
		return string(runs)
	})
	if seen["s"] == 0 || seen["s12s"] == 0 || seen["s1s"] == 0 || seen["s2s"] == 0 || len(seen) < 8 {
		t.Fatalf("after crashes: %v", seen)
	}
}

func TestCrashTearsAtSectors(t *testing.T) {
	torn := 0
	outcomes(t, func(m *Memory) {
		f := create(t, m, "a", 4096)
		must(t, errors.Join(f.Sync(), m.SyncDir(".")))
		writeAt(t, f, strings.Repeat("x", 4096), 0)
	}, func(m *Memory) string {
		got := []byte(content(t, m, "a"))
		for sector := range bytesOf(got, sectorSize) {
			if n := bytes.Count(sector, []byte("x")); n != 0 && n != sectorSize {
				t.Fatalf("a sector with %d bytes", n)
			}
		}
		if n := bytes.Count(got, []byte("x")); n != 0 && n != 4096 {
			torn++
		}
		return ""
	})
	if torn == 0 {
		t.Fatal("never torn")
	}
}

func bytesOf(b []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for ; len(b) > 0; b = b[size:] {
			if !yield(b[:size]) {
				return
			}
		}
	}
}

func TestCrashLosesNames(t *testing.T) {
	seen := outcomes(t, func(m *Memory) {
		must(t, m.MakeDir("d"))
		old := create(t, m, "d/old", 1)
		writeAt(t, old, "o", 0)
		must(t, errors.Join(old.Sync(), m.SyncDir("d")))
		fresh := create(t, m, "d/new", 1)
		writeAt(t, fresh, "n", 0)
		must(t, fresh.Sync())
		must(t, m.Rename("d/new", "d/old"))
	}, func(m *Memory) string {
		names, err := m.List("d")
		must(t, err)
		return strings.Join(names, " ") + "=" + content(t, m, "d/old")
	})
	if seen["old=o"] == 0 || seen["old=n"] == 0 || seen["new old=o"] == 0 || len(seen) != 3 {
		t.Fatalf("after crashes: %v", seen)
	}
	seen = outcomes(t, func(m *Memory) {
		must(t, m.MakeDir("d/e"))
		create(t, m, "d/e/file", 100)
		must(t, m.SyncDir("d/e"))
	}, func(m *Memory) string {
		size, err := m.Stat("d/e/file")
		must(t, err)
		return map[bool]string{true: "short", false: "whole"}[size < 100]
	})
	if seen["short"] == 0 || seen["whole"] == 0 {
		t.Fatalf("a file that was not synced: %v", seen)
	}
}

func TestCrashAfter(t *testing.T) {
	m := NewMemory(1)
	f := create(t, m, "a", 0)
	m.CrashAfter(1)
	writeAt(t, f, "1", 0)
	if m.Crashed() {
		t.Fatal("too early")
	}
	if _, err := f.WriteAt([]byte("2"), 1); !errors.Is(err, ErrCrashed) || !m.Crashed() {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, ErrCrashed) {
		t.Fatal(err)
	}
	if _, err := m.Stat("a"); !errors.Is(err, ErrCrashed) {
		t.Fatal(err)
	}
	m.Crash()
	create(t, m, "b", 0)
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrCrashed) {
		t.Fatalf("a file of the time before: %v", err)
	}
}

func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	m := NewMemory(1)
	f := create(t, m, "a", 0)
	m.Fail(func(o Operation) *Fault {
		if o.Kind == Write && o.At == 3 {
			return &Fault{Err: broken, Written: 2}
		}
		return nil
	})
	writeAt(t, f, "abc", 0)
	if n, err := f.WriteAt([]byte("def"), 3); n != 2 || !errors.Is(err, broken) {
		t.Fatal(n, err)
	}
	m.Fail(nil)
	if got := content(t, m, "a"); got != "abcde" {
		t.Fatal(got)
	}
	m.SetCapacity(6)
	if _, err := f.WriteAt([]byte("fg"), 5); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if _, err := m.Create("b", 2); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if free, _ := m.Free("."); free != 1 {
		t.Fatal(free)
	}
	if !m.Flip("a", 1, 0) || content(t, m, "a") != "accde" || m.Flip("a", 5, 0) {
		t.Fatal(content(t, m, "a"))
	}
}

// TestFailedSync: data that a failed Sync did not write is not written by the next Sync either, although that one succeeds.
func TestFailedSync(t *testing.T) {
	broken := errors.New("broken")
	seen := outcomes(t, func(m *Memory) {
		f := create(t, m, "a", 10)
		must(t, errors.Join(f.Sync(), m.SyncDir(".")))
		writeAt(t, f, "x", 0)
		m.Fail(func(o Operation) *Fault { return &Fault{Err: broken} })
		if err := f.Sync(); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		m.Fail(nil)
		writeAt(t, f, "y", 1)
		must(t, f.Sync())
	}, func(m *Memory) string { return content(t, m, "a")[:2] })
	if seen["\x00y"] == 0 || seen["xy"] == 0 || len(seen) != 2 {
		t.Fatalf("after a failed sync: %v", seen)
	}
}

func TestWritten(t *testing.T) {
	m := NewMemory(1)
	f := create(t, m, "a", 100)
	writeAt(t, f, "abc", 10)
	writeAt(t, f, "d", 13)
	writeAt(t, f, "e", 50)
	writeAt(t, f, "fgh", 12)
	if got := m.Written("a"); len(got) != 2 || got[0] != (Extent{10, 5}) || got[1] != (Extent{50, 1}) {
		t.Fatal(got)
	}
}
