package segment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// long makes a journal of several segments with ten messages each, without a checkpoint.
func long(t *testing.T) (*vfs.Memory, *opened) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	for seq := range uint64(40) {
		j.must(5, message(seq, strings.Repeat("body", 1200)))
	}
	return m, j
}

// A segment that is missing or completely unreadable is detected even if no checkpoint lists it, because batches are numbered.
func TestSegmentIsMissed(t *testing.T) {
	overwrite := func(b []byte, at int64) func(*testing.T, vfs.FS, string) {
		return func(t *testing.T, fs vfs.FS, path string) {
			f, err := fs.Open(path)
			must(t, err)
			_, err = f.WriteAt(b, at)
			must(t, errors.Join(err, f.Sync(), f.Close()))
		}
	}
	remove := func(t *testing.T, fs vfs.FS, path string) {
		must(t, errors.Join(fs.Remove(path), fs.SyncDir("/data/journal")))
	}
	for name, c := range map[string]struct {
		damage func(*testing.T, vfs.FS, string)
		lost   bool // whether its messages are lost
	}{
		"removed": {remove, true},
		"emptied": {func(t *testing.T, fs vfs.FS, path string) {
			remove(t, fs, path)
			f, err := fs.Create(path, 0)
			must(t, err)
			must(t, errors.Join(f.Close(), fs.SyncDir("/data/journal")))
		}, true},
		"all zeros":        {overwrite(make([]byte, 64<<10), 0), true},
		"headers of zeros": {overwrite(make([]byte, 2*format.HeaderSize), 0), false},
		"headers of noise": {overwrite([]byte(strings.Repeat("noise", 200)), 0), false},
		"another's header": {overwrite(format.EncodeHeader(77, 5, 64<<10), 0), false},
	} {
		for _, clean := range []bool{true, false} {
			for seq := uint64(1); seq <= 2; seq++ {
				t.Run(fmt.Sprintf("%s, clean=%v, %d", name, clean, seq), func(t *testing.T) {
					m, j := long(t)
					if clean {
						j.close()
					} else {
						j.kill(m)
					}
					file := index.SegmentName(seq)
					c.damage(t, m, "/data/journal/"+file)
					j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
					named := slices.ContainsFunc(j.report.Damages, func(d recovery.Damage) bool { return d.File == file })
					about := slices.ContainsFunc(j.report.Damages, func(d recovery.Damage) bool { return d.File == index.SegmentName(seq-1) })
					if !named && !about {
						t.Errorf("%v", j.report.Damages)
					}
					lost := func(d recovery.Damage) bool { return len(d.Messages) > 0 || d.Unread > 0 || d.Batches > 0 }
					if c.lost && !slices.ContainsFunc(j.report.Damages, lost) {
						t.Errorf("nothing is lost by %v", j.report.Damages)
					}
					got := seqs(j.Take(5))
					if c.lost != (len(got) < 40) || c.lost && len(got) < 25 || !slices.IsSorted(got) {
						t.Errorf("%d are back: %v", len(got), j.report.Damages)
					}
					j.must(5, message(100, "goes on"))
					j.close()
					j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
					if again := j.Take(5); len(again) != len(got)+1 || len(j.report.Damages) > 0 {
						t.Errorf("%d are back the next time: %v", len(again), j.report.Damages)
					}
					j.must(5, store.Record{Kind: store.Remove, First: 0, Last: 100})
					j.close()
				})
			}
		}
	}
}
