package segment_test

import (
	"path/filepath"
	"testing"
	"time"

	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/storetest"
	"candlemark/internal/storage/store/vfs"
)

// journal is a segment.Journal with a Reopen on the same files.
type journal struct {
	*segment.Journal
	fs  vfs.FS
	dir string
	o   segment.Options
}

func (j journal) Reopen(t *testing.T) storetest.Reopener {
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return start(t, j.fs, j.dir, j.o)
}

func start(t *testing.T, fs vfs.FS, dir string, o segment.Options) journal {
	j, report, err := segment.Open(fs, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Damages) > 0 {
		t.Fatalf("damages: %+v", report.Damages)
	}
	t.Cleanup(func() { _ = j.Close() })
	return journal{j, fs, dir, o}
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]segment.Options{
		"usual":  {},
		"small":  {SegmentSize: 16 << 10, Settle: time.Millisecond},
		"medium": {SegmentSize: 1 << 20, Settle: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Exercise(t, func(t *testing.T) storetest.Reopener {
				return start(t, vfs.NewMemory(1), "journal", o)
			})
		})
	}
	t.Run("disk", func(t *testing.T) {
		storetest.Exercise(t, func(t *testing.T) storetest.Reopener {
			return start(t, vfs.OS, filepath.Join(t.TempDir(), "journal"), segment.Options{SegmentSize: 1 << 20})
		})
	})
}
