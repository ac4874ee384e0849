package backup

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"

	"github.com/rs/zerolog"
)

// stuck is a source whose copy blocks until goOn is closed.
type stuck struct{ goOn chan struct{} }

func (s *stuck) WriteTo(w io.Writer) (int64, error) {
	if _, err := w.Write([]byte("a")); err != nil {
		return 0, err
	}
	<-s.goOn
	n, err := w.Write([]byte("b"))
	return int64(n), err
}

// reached is a source that tells when it is stuck.
type reached struct {
	stuck
	copied chan struct{}
}

func (r *reached) WriteTo(w io.Writer) (int64, error) {
	close(r.copied)
	<-r.goOn
	return 0, io.ErrUnexpectedEOF
}

// TestKeeperRefusesFolders: a backup is refused unless its folder is new or empty, has an absolute path and is outside
// the data folder; the folder is made accessible to its owner only.
func TestKeeperRefusesFolders(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	full, file, link, open := filepath.Join(dir, "full"), filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "open")
	for _, path := range []string{data, full, open, filepath.Join(full, "something")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(open, link), os.Symlink(data, filepath.Join(dir, "alias"))); err != nil {
		t.Fatal(err)
	}
	released := 0
	k := NewKeeper(Config{DataDir: data, Take: func() (*Cut, error) { return cut(&released), nil }, Log: zerolog.Nop()})
	for path, why := range map[string]string{
		"": "not an absolute path", "relative": "not an absolute path", full: "is not empty", file: "is not a folder", link: "is not a folder",
		filepath.Join(dir, "no", "where"): "parent folder", data: "in the broker's data folder", filepath.Join(data, "backup"): "in the broker's data folder",
		filepath.Join(dir, "alias", "backup"): "in the broker's data folder", filepath.Join(dir, "x", "..", "data", "y"): "in the broker's data folder",
	} {
		if _, err := k.StartBackup(t.Context(), path); !errors.Is(err, management.ErrBackupFolder) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if b := k.Backup(); b.State != management.NoBackup || k.CancelBackup() {
		t.Errorf("%+v", b)
	}
	for _, path := range []string{open, filepath.Join(dir, "data2"), filepath.Join(dir, "..data")} {
		if b, err := k.StartBackup(t.Context(), path); err != nil || b.Messages != 7 || b.All == 0 {
			t.Errorf("%s: %+v %v", path, b, err)
		}
		k.working.Wait()
		if b := k.Backup(); b.State != management.BackupFinished || b.Bytes != b.All || b.Ended.IsZero() || b.Folder != path {
			t.Errorf("%s: %+v", path, b)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", info, err)
		}
		if info, err := os.Stat(filepath.Join(path, ManifestName)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	k.Close()
	if _, err := k.StartBackup(t.Context(), filepath.Join(dir, "late")); err == nil {
		t.Error("a backup of a broker that has stopped")
	}
	if _, err := NewKeeper(Config{}).StartBackup(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, management.ErrNothingOnDisk) {
		t.Error(err)
	}
}

// TestKeeperRunsOne: one backup runs at a time. A backup cancelled by CancelBackup or Close leaves no files behind. A
// backup whose cut fails has failed.
func TestKeeperRunsOne(t *testing.T) {
	dir := t.TempDir()
	var file *stuck
	var fails error
	released := make(chan struct{}, 10)
	k := NewKeeper(Config{DataDir: filepath.Join(dir, "data"), Log: zerolog.Nop(), Take: func() (*Cut, error) {
		file = &stuck{make(chan struct{})}
		source := Source{Name: "definitions.db", Size: 2, From: file, Release: func() { released <- struct{}{} }}
		return &Cut{Sources: []Source{source}}, fails
	}})
	first := filepath.Join(dir, "first")
	if b, err := k.StartBackup(t.Context(), first); err != nil || b.State != management.BackupRunning {
		t.Fatalf("%+v %v", b, err)
	}
	if _, err := k.StartBackup(t.Context(), filepath.Join(dir, "second")); !errors.Is(err, management.ErrBackupRunning) {
		t.Error(err)
	}
	if !k.CancelBackup() {
		t.Error("nothing to be cancelled")
	}
	close(file.goOn)
	<-released
	k.working.Wait()
	if b := k.Backup(); b.State != management.BackupCancelled {
		t.Errorf("%+v", b)
	}
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Error("the folder is there", err)
	}
	fails = errors.New("the journal has failed")
	if _, err := k.StartBackup(t.Context(), first); !errors.Is(err, fails) {
		t.Error(err)
	}
	k.working.Wait()
	if b := k.Backup(); b.State != management.BackupFailed || b.Failure != fails.Error() {
		t.Errorf("%+v", b)
	}
	fails = nil
	ended, cancel := context.WithCancel(t.Context())
	if _, err := k.StartBackup(ended, first); err != nil {
		t.Fatal(err)
	}
	cancel() // the request that started the backup may end
	close(file.goOn)
	k.working.Wait()
	if b := k.Backup(); b.State != management.BackupFinished {
		t.Errorf("%+v", b)
	}
	if _, err := k.StartBackup(t.Context(), filepath.Join(dir, "last")); err != nil {
		t.Fatal(err)
	}
	close(file.goOn)
	k.Close()
	k.Close()
}

// TestBackupsTakeTurns_ACC10: a user who takes one backup after the other does not keep out users whom a running backup
// refused.
func TestBackupsTakeTurns_ACC10(t *testing.T) {
	released := 0
	k := NewKeeper(Config{DataDir: t.TempDir(), Take: func() (*Cut, error) { return cut(&released), nil }, Log: zerolog.Nop()})
	defer k.Close()
	start := func(user string) error {
		ctx := events.WithOrigin(t.Context(), &events.Origin{User: user})
		_, err := k.StartBackup(ctx, filepath.Join(t.TempDir(), "backup"))
		return err
	}
	take := func(user string, want error) {
		t.Helper()
		if err := start(user); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", user, err, want)
		}
		k.working.Wait()
	}
	take("greedy", nil)
	take("greedy", nil)  // nobody else wants one
	k.cancel = func() {} // as if one of his were running
	take("greedy", management.ErrBackupRunning)
	k.cancel = nil
	take("greedy", nil) // he was refused himself
	k.cancel = func() {}
	take("other", management.ErrBackupRunning)
	k.cancel = nil
	take("greedy", management.ErrBackupOfOthers)
	take("other", nil)
	take("greedy", nil)
	k.cancel = func() {}
	take("other", management.ErrBackupRunning)
	k.cancel, k.last.Ended = nil, time.Now().Add(-turnOfOthers)
	take("greedy", nil) // the other one did not come
}

// TestAbandon_CLU34: a process that is about to end waits until the files of its backup are removed, but not long.
func TestAbandon_CLU34(t *testing.T) {
	folder, released := filepath.Join(t.TempDir(), "backup"), 0
	source := &reached{stuck{make(chan struct{})}, make(chan struct{})}
	k := NewKeeper(Config{DataDir: t.TempDir(), Log: zerolog.Nop(), Take: func() (*Cut, error) {
		c := cut(&released)
		c.Sources = []Source{{Name: "definitions.db", Size: 2, From: source, Release: func() {}}}
		return c, nil
	}})
	k.Abandon(time.Hour) // none runs
	if _, err := k.StartBackup(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	<-source.copied
	k.Abandon(time.Millisecond)
	if b := k.Backup(); b.State != management.BackupRunning {
		t.Errorf("it was waited for: %s", b.State)
	}
	close(source.goOn)
	k.Abandon(time.Hour)
	k.Close()
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}
