package recovery

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/vfs"
)

// Folder is the name of the journal's folder in the data folder of a broker.
const Folder = "journal"

// Damage is a place where a file differs from the written bytes.
type Damage struct {
	File   string // its name, without the folder
	Offset int64
	Text   string // the problem
	// Messages lost by it, as far as they are known.
	Messages []Lost
	// Unread is the maximum number of records that could not be found: unidentified messages, or marks of messages.
	Unread int
	// Batches is the number of missing batches of records about which nothing else is known.
	Batches uint64
}

// Lost names a message.
type Lost struct {
	Queue store.QueueID
	Seq   uint64
}

// lost names messages of a queue.
func lost(q store.QueueID, seqs []uint64) (list []Lost) {
	for _, seq := range seqs {
		list = append(list, Lost{q, seq})
	}
	return list
}

// String describes the damage in one line.
func (d Damage) String() string {
	if d.Batches > 0 {
		return fmt.Sprintf("%s at %d: %s (%d messages known to be lost, and all records of %d batches)", d.File, d.Offset, d.Text, len(d.Messages), d.Batches)
	}
	if d.Unread > 0 {
		return fmt.Sprintf("%s at %d: %s (%d messages known to be lost, and up to %d unreadable records)",
			d.File, d.Offset, d.Text, len(d.Messages), d.Unread)
	}
	return fmt.Sprintf("%s at %d: %s (%d messages lost)", d.File, d.Offset, d.Text, len(d.Messages))
}

// Report is the result of Open.
type Report struct {
	// Segments of the log, and the number of Records replayed after the checkpoint.
	Segments, Records int
	// Messages that survived, and the Bytes of their bodies.
	Messages int
	Bytes    int64
	// TornTail is the number of bytes cut off from an incomplete batch at the end; 0 if there was none.
	TornTail int64
	// Clean: the journal was closed, nothing was replayed.
	Clean   bool
	Damages []Damage
	// HighestQueue is the highest number ever seen; the next incarnation is above it.
	HighestQueue store.QueueID
	// Names of queues, as far as they were recorded.
	Names    map[store.QueueID]store.Name
	Duration time.Duration
	// Journal is the identity of the journal, 0 if it has none yet, as in an older version.
	Journal uint64
	empty   bool // there was neither a segment nor a checkpoint
}

// Missing is the report about a folder that does not exist.
func Missing() Report { return Report{empty: true} }

// Expect adds damage if the journal is not the expected one, by its identity; 0 if it is not known.
func (r *Report) Expect(journal uint64) {
	d := Damage{File: progress.Name}
	switch {
	case journal == 0 || journal == r.Journal:
		return
	case r.Journal != 0:
		d.Text = "this is not the journal that belongs to the definitions"
	case r.empty:
		d.File, d.Text = Folder, "the journal that belongs to the definitions is missing, with all its messages"
	case slices.ContainsFunc(r.Damages, func(o Damage) bool { return o.File == progress.Name }):
		return
	default:
		d.Text = "the file is missing; segments and batches that are missing at the end of the log may not be noticed"
	}
	r.Damages = append(r.Damages, d)
}

// QuarantineOf returns the folder that damaged files are copied to, beside the journal's folder.
func QuarantineOf(dir string) string { return filepath.Join(filepath.Dir(dir), "quarantine") }

// Quarantine copies a damaged file, unless it was copied before.
func Quarantine(f vfs.FS, path, to string) error {
	if err := f.MakeDir(to); err != nil {
		return err
	}
	if err := f.SyncDir(filepath.Dir(to)); err != nil {
		return err
	}
	size, err := f.Stat(path)
	if err != nil {
		return err
	}
	from, err := f.OpenRead(path)
	if err != nil {
		return err
	}
	defer from.Close()
	copied, err := f.Create(filepath.Join(to, filepath.Base(path)), 0)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer copied.Close()
	if _, err = io.Copy(io.NewOffsetWriter(copied, 0), io.NewSectionReader(from, 0, size)); err != nil {
		return err
	}
	return errors.Join(copied.Sync(), f.SyncDir(to))
}
