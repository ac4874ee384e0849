package management

import (
	"context"
	"errors"
	"time"
)

// Backups is the part of the broker that copies all durable data to another folder of its machine. One backup runs at
// a time.
type Backups interface {
	// StartBackup begins a backup and returns when its snapshot is taken, which contains everything confirmed before
	// the call. The folder must be absolute, and missing or empty. Errors: ErrBackupRunning, ErrBackupOfOthers, and, for an
	// unsuitable folder, one that wraps ErrBackupFolder. The backup continues when ctx ends. Its user is the user in the
	// origin of ctx.
	StartBackup(ctx context.Context, folder string) (Backup, error)
	// Backup returns the one that runs, or the last one.
	Backup() Backup
	// CancelBackup ends the one that runs; false if none does.
	CancelBackup() bool
}

// States of a Backup.
const (
	NoBackup        = "none"
	BackupRunning   = "running"
	BackupFinished  = "finished"
	BackupFailed    = "failed"
	BackupCancelled = "cancelled"
)

// Backup is the status of a backup.
type Backup struct {
	State      string
	Folder     string
	Taken      time.Time // the moment of the snapshot, zero until then
	Ended      time.Time // zero while it runs
	Bytes, All int64     // copied, and to be copied
	Messages   int
	Failure    string // why it failed
}

// Errors of StartBackup.
var (
	ErrBackupRunning = errors.New("a backup is running")
	// ErrBackupOfOthers: the last backup was the user's, and other users, who were refused while it ran, are next
	// (ACC-10).
	ErrBackupOfOthers = errors.New("another user was refused while your backup ran and may start the next one: wait for a minute")
	// ErrNothingOnDisk: the broker keeps everything in memory.
	ErrNothingOnDisk = errors.New("there is nothing on disk")
	ErrBackupFolder  = errors.New("no backup can be written there")
)
