package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"candlemark/internal/admin/backup"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/memory"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
	"candlemark/supervision"

	"github.com/rs/zerolog"
)

// data holds the contents of a broker's data folder: definitions and messages.
type data struct {
	log zerolog.Logger
	// definitions and messages are the stores; file and journal are the same ones if they are on disk, otherwise nil.
	definitions definitions.Store
	messages    store.Journal
	file        *definitions.File
	journal     *segment.Journal
	node        atomic.Pointer[supervision.Node] // nil while it starts
	backups     *backup.Keeper                   // nil without a data folder
	clockFile   string                           // of the test clock, "" for none
	full        atomic.Bool                      // the journal waits for room
	quarantine  string                           // the folder
	// failed gets, once, the reason why nothing more can be stored.
	failed chan error
}

// dropper returns a function that removes what a start that fails has left in a data folder which was not there, or was empty, when dropper
// was called: the next start is again one with a new folder.
func dropper(dir string) func() error {
	before, err := os.ReadDir(dir)
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && (err != nil || len(before) > 0) {
		return func() error { return nil }
	}
	return func() error {
		if missing {
			return os.RemoveAll(dir)
		}
		left, err := os.ReadDir(dir)
		for _, e := range left {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
		return err
	}
}

// openStores returns the stores that the settings choose.
func openStores(cfg config.Config, clockFile string, log zerolog.Logger) (*data, error) {
	if cfg.InMemory {
		return inMemory(log), nil
	}
	d, err := openData(cfg.DataDir, cfg.SegmentSize, log)
	if err == nil {
		d.clockFile = clockFile
	}
	return d, err
}

// kept returns what backs the data up; nil for nothing.
func (d *data) kept() management.Backups {
	if d.backups == nil {
		return nil
	}
	return d.backups
}

// openData opens the data folder, which is created if missing. The file of the definitions is its lock, so it comes
// first. segmentSize is in bytes.
func openData(dir string, segmentSize uint, log zerolog.Logger) (*data, error) {
	path := filepath.Join(dir, segment.Folder)
	d := &data{log: log, quarantine: recovery.QuarantineOf(path), failed: make(chan error, 1)}
	if err := backup.CheckFolder(vfs.OS, dir); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	var err error
	if d.file, err = definitions.Open(dir); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	var report recovery.Report
	d.journal, report, err = segment.Open(vfs.OS, path, segment.Options{
		SegmentSize: int64(segmentSize),

		OnFailure: func(err error) { d.failed <- err },
		OnFull:    d.onFull,
		OnDamage:  d.onDamage,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data folder: %w", err), d.file.Close())
	}
	if err := d.missed(&report); err != nil {
		return nil, errors.Join(fmt.Errorf("data folder: %w", err), d.journal.Close(), d.file.Close())
	}
	d.definitions, d.messages = d.file, d.journal
	d.backups = backup.NewKeeper(backup.Config{DataDir: dir, Take: d.cut, Log: log})
	for _, damage := range report.Damages {
		d.onDamage(damage)
	}
	event := log.Info()
	if report.TornTail > 0 {
		event = log.Warn().Int64("torn_tail_bytes", report.TornTail)
	}
	event.Bool("clean", report.Clean).Int("segments", report.Segments).Int("replayed", report.Records).
		Int("messages", report.Messages).Int64("size_bytes", report.Bytes).Int64("took_ms", report.Duration.Milliseconds()).Msg("journal opened")
	return d, nil
}

// missed reports that the journal is not the one that belongs to the definitions, or that these are missing.
func (d *data) missed(report *recovery.Report) error {
	expected, err := d.file.Journal()
	if err != nil {
		return err
	}
	report.Expect(expected)
	if d.file.Made() && report.Journal != 0 {
		d.log.Error().Str("file", definitions.FileName).Msg("the definitions that belong to the journal are missing")
	}
	return nil
}

// claim stores which journal belongs to the definitions. It is called when the broker has started, with the journal as
// it is. Without room the next start does it.
func (d *data) claim() error {
	if d.file == nil {
		return nil
	}
	stored, err := d.file.Journal()
	id := d.journal.Stats().Journal
	if err != nil || id == stored || id == 0 {
		return err
	}
	_, err = definitions.Wait(d.file, definitions.Change{Put: []any{definitions.Journal(id)}})
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return nil
	}
	return err
}

func (d *data) onDamage(damage recovery.Damage) {
	event := d.log.Error().Str("file", damage.File).Int64("offset_bytes", damage.Offset).Str("text", damage.Text)
	if n := len(damage.Messages); n > 0 {
		event = event.Int("lost_messages", n).Uint64("queue", uint64(damage.Messages[0].Queue))
	}
	if damage.Unread > 0 {
		event = event.Int("unread_records", damage.Unread)
	}
	if damage.Batches > 0 {
		event = event.Uint64("missing_batches", damage.Batches)
	}
	text := "the journal is damaged"
	if _, err := vfs.OS.Stat(filepath.Join(d.quarantine, damage.File)); err == nil {
		text += "; a copy of the file is in the folder quarantine"
	}
	event.Msg(text)
}

// onFull reports to the node whether the disk is full.
func (d *data) onFull(full bool) {
	d.full.Store(full)
	d.log.Warn().Bool("full", full).Msg("the state of disk space for the journal has changed")
	if n := d.node.Load(); n != nil {
		n.JournalFull(full)
	}
}

// serves sets the node that uses the data.
func (d *data) serves(n *supervision.Node) {
	d.node.Store(n)
	if d.full.Load() {
		n.JournalFull(true)
	}
}

// cut takes a snapshot of one moment: no definition changes while the journal is cut.
func (d *data) cut() (*backup.Cut, error) {
	c := &backup.Cut{}
	var messages *segment.Cut
	defs, err := d.file.Cut(func() (err error) {
		messages, err = d.journal.Cut()
		c.Taken = time.Now().UTC()
		return err
	})
	if messages != nil {
		addJournal(c, messages)
	}
	if err == nil {
		err = d.cutClock(c)
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	d.describe(c, defs)
	return c, nil
}

// cutOf returns a function that takes a snapshot of a node of a cluster.
func (d *data) cutOf(n *cluster.Node) func() (*backup.Cut, error) {
	return func() (*backup.Cut, error) {
		all, err := n.Cut()
		if err != nil {
			return nil, err
		}
		c := &backup.Cut{}
		c.Taken = time.Now().UTC()
		addJournal(c, all.Journal)
		d.describe(c, all.Definitions)
		return c, nil
	}
}

// addJournal adds the files of a journal to a snapshot.
func addJournal(c *backup.Cut, messages *segment.Cut) {
	c.Messages = messages.Messages
	for _, f := range messages.Files {
		c.Sources = append(c.Sources, backup.Source{
			Name: segment.Folder + "/" + f.Name, Size: f.Size, Release: f.Release, From: &backup.Piece{ReaderAt: f, Size: f.Size},
		})
	}
}

// describe adds the definitions to a snapshot, in front of the other files: changes may wait for them.
func (d *data) describe(c *backup.Cut, defs *definitions.Cut) {
	c.Version, c.Revision = version, defs.Revision
	if n := d.node.Load(); n != nil {
		c.Node = n.API().NodeName()
	}
	file := backup.Source{Name: definitions.FileName, Size: defs.Size, Release: defs.Release, From: defs, Hurry: true}
	c.Sources = slices.Insert(c.Sources, 0, file)
}

// close completes all pending operations; the node has ended.
func (d *data) close() error {
	if d.backups != nil {
		d.backups.Close()
	}
	return errors.Join(d.messages.Close(), d.definitions.Close())
}

// lost gets the reason, once, when no more definitions can be stored.
func (d *data) lost() <-chan error {
	if d.file == nil {
		return nil
	}
	return d.file.Failed()
}

// inMemory returns the stores of a broker without a data folder.
func inMemory(log zerolog.Logger) *data {
	return &data{log: log, definitions: definitions.NewMemory(), messages: memory.New(memory.Options{}), failed: make(chan error, 1)}
}
