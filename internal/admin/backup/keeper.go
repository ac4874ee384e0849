package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
)

// Config of a Keeper.
type Config struct {
	DataDir string // no backup is written into it
	// Take takes a Cut; nil if there is nothing to be taken.
	Take func() (*Cut, error)
	Log  zerolog.Logger
}

// Keeper runs backups, one at a time. It implements management.Backups.
type Keeper struct {
	cfg     Config
	working sync.WaitGroup
	bytes   atomic.Int64

	mu      sync.Mutex
	last    management.Backup
	user    string             // of last
	refused bool               // another user was refused while it ran
	cancel  context.CancelFunc // of the running backup, nil for none
	closed  bool
}

// turnOfOthers is how long after its backup a user waits for users who were refused while it ran (ACC-10).
const turnOfOthers = time.Minute

var _ management.Backups = (*Keeper)(nil)

// NewKeeper returns a Keeper; close it before the sources of its cuts.
func NewKeeper(cfg Config) *Keeper {
	return &Keeper{cfg: cfg, last: management.Backup{State: management.NoBackup}}
}

// errClosed: the broker is being stopped.
var errClosed = errors.New("the broker is stopping")

// StartBackup implements management.Backups.
func (k *Keeper) StartBackup(ctx context.Context, folder string) (management.Backup, error) {
	user := ""
	if by := events.OriginOf(ctx); by != nil {
		user = by.User
	}
	k.mu.Lock()
	err := k.admit(user)
	made := false
	if err == nil {
		made, err = k.prepare(filepath.Clean(folder))
	}
	if err != nil {
		k.mu.Unlock()
		return management.Backup{}, err
	}
	running, cancel := context.WithCancel(context.Background())
	k.cancel, k.user, k.refused = cancel, user, false
	k.last = management.Backup{State: management.BackupRunning, Folder: filepath.Clean(folder)}
	k.bytes.Store(0)
	k.working.Add(1)
	k.mu.Unlock()
	taken := make(chan error, 1)
	go k.run(running, made, taken)
	select {
	case err = <-taken:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return k.Backup(), err
}

// admit refuses a backup while another one runs, and one of the user of the last backup while it is the turn of others. The
// mutex is held.
func (k *Keeper) admit(user string) error {
	switch {
	case k.closed:
		return errClosed
	case k.cancel != nil:
		k.refused = k.refused || user != k.user
		return management.ErrBackupRunning
	case k.refused && user == k.user && time.Since(k.last.Ended) < turnOfOthers:
		return management.ErrBackupOfOthers
	}
	return nil
}

// Backup implements management.Backups.
func (k *Keeper) Backup() management.Backup {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.last
	b.Bytes = k.bytes.Load()
	return b
}

// CancelBackup implements management.Backups.
func (k *Keeper) CancelBackup() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cancel != nil {
		k.cancel()
	}
	return k.cancel != nil
}

// Close cancels the backup that runs, and waits until it has ended.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.CancelBackup()
	k.working.Wait()
}

// Abandon cancels the backup that runs, for a process that is about to end, and waits until its files are removed, but no longer than d.
func (k *Keeper) Abandon(d time.Duration) {
	if !k.CancelBackup() {
		return
	}
	ended := make(chan struct{})
	go func() {
		k.working.Wait()
		close(ended)
	}()
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
	}
}

// run takes a cut and copies it.
func (k *Keeper) run(ctx context.Context, made bool, taken chan<- error) {
	defer k.working.Done()
	began, folder := time.Now(), k.Backup().Folder
	c, err := k.cfg.Take()
	if err == nil {
		k.mu.Lock()
		k.last.Taken, k.last.Messages = c.Taken, c.Messages
		for _, s := range c.Sources {
			k.last.All += s.Size
		}
		k.mu.Unlock()
		k.cfg.Log.Info().Str("folder", folder).Int("messages", c.Messages).Uint64("revision", c.Revision).Msg("backup started")
	}
	taken <- err
	if err == nil {
		_, err = Copy(ctx, vfs.OS, folder, c, func(n int64) { k.bytes.Add(n) })
	}
	if err != nil && made {
		_ = os.Remove(folder) // only if it is empty
	}
	k.end(err, time.Since(began))
}

// end records the result of a backup.
func (k *Keeper) end(err error, took time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cancel()
	k.cancel, k.last.Ended = nil, time.Now()
	log := k.cfg.Log.Info()
	switch {
	case errors.Is(err, context.Canceled):
		k.last.State = management.BackupCancelled
	case err != nil:
		k.last.State, k.last.Failure = management.BackupFailed, err.Error()
		log = k.cfg.Log.Error().Err(err)
	default:
		k.last.State = management.BackupFinished
	}
	log.Str("folder", k.last.Folder).Int64("bytes", k.bytes.Load()).Int64("took_ms", took.Milliseconds()).Msg("backup " + k.last.State)
}

// prepare makes the folder, or checks that it is suitable. Only the broker's user has access to it.
func (k *Keeper) prepare(folder string) (made bool, err error) {
	refuse := func(why string) (bool, error) {
		return false, fmt.Errorf("%w: %s %s", management.ErrBackupFolder, folder, why)
	}
	if k.cfg.Take == nil {
		return false, management.ErrNothingOnDisk
	}
	if !filepath.IsAbs(folder) {
		return refuse("is not an absolute path on the broker's machine")
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(folder))
	if err != nil {
		return refuse("cannot be created: its parent folder does not exist")
	}
	if data, err := filepath.EvalSymlinks(k.cfg.DataDir); err == nil && within(data, filepath.Join(above, filepath.Base(folder))) {
		return refuse("is in the broker's data folder")
	}
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := errors.Join(os.Mkdir(folder, 0o700), vfs.OS.SyncDir(above)); err != nil {
			return refuse("cannot be created: " + err.Error())
		}
		return true, nil
	case err != nil:
		return refuse("cannot be inspected: " + err.Error())
	case !info.IsDir():
		return refuse("is not a folder")
	}
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		return refuse("is not empty")
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return refuse("cannot be restricted to the broker's user: " + err.Error())
	}
	return false, nil
}

// within reports whether a path is a folder or below it.
func within(folder, path string) bool {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return false
	}
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
