package raftlog_test

import (
	"errors"
	"testing"

	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/store/vfs"
)

// TestVotes_CLU8: what was answered is never forgotten, whatever a crash tears.
func TestVotes_CLU8(t *testing.T) {
	for seed := range uint64(100) {
		fs := vfs.NewMemory(seed)
		answered := uint64(0)
		for round := range 5 {
			v, err := raftlog.OpenVotes(fs, "raft")
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got, err := v.GetUint64([]byte("term"))
			if err != nil && err.Error() != "not found" || got < answered {
				t.Fatalf("seed %d: got %d after %d: %v", seed, got, answered, err)
			}
			answered = max(answered, got)
			fs.CrashAfter(int(seed%7) + round + 1)
			for v.SetUint64([]byte("term"), answered+1) == nil {
				answered++
			}
			_ = v.Close()
			fs.Crash()
		}
	}
}

func TestVotes_Damage(t *testing.T) {
	fs := vfs.NewMemory(1)
	v, err := raftlog.OpenVotes(fs, "raft")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Set([]byte("candidate"), []byte("n1")); err != nil {
		t.Fatal(err)
	}
	_ = v.Close()
	f, err := fs.Open("raft/vote")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 20); err != nil {
		t.Fatal(err)
	}
	if v, err = raftlog.OpenVotes(fs, "raft"); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Get([]byte("candidate")); err != nil || string(got) != "n1" {
		t.Errorf("got %q, %v", got, err)
	}
	_ = v.Close()
	for page := range int64(2) {
		if _, err := f.WriteAt([]byte("x"), page*4096+20); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := raftlog.OpenVotes(fs, "raft"); !errors.Is(err, raftlog.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}
