package segment

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// slow is a disk whose syncs of segments, while hang is set, take until resume is closed.
type slow struct {
	vfs.FS
	hang   bool
	resume chan struct{}
}

type slowFile struct {
	vfs.File
	disk *slow
}

func (d *slow) Create(name string, size int64) (vfs.File, error) {
	f, err := d.FS.Create(name, size)
	return slowFile{f, d}, err
}

func (f slowFile) Sync() error {
	if f.disk.hang {
		<-f.disk.resume
	}
	return f.File.Sync()
}

// killed kills the process and returns the messages that the next one finds.
func (o *opened) killed(fs *vfs.Memory, end func()) []uint64 {
	o.t.Helper()
	fs.CrashAfter(0)
	_ = o.Close()
	synctest.Wait()
	end()
	again := open(o.t, fs, "/data/journal", Options{SegmentSize: smallSegment})
	if len(again.report.Damages) > 0 {
		o.t.Errorf("%+v", again.report.Damages)
	}
	return seqs(again.Take(1))
}

// TestKillLosesNothingWritten_DUR5: records that nobody waits for are in the file as soon as they are appended to a
// journal that rests, and within earlyPause in a busy one, so that a kill does not lose them.
func TestKillLosesNothingWritten_DUR5(t *testing.T) {
	for n := range uint64(12) {
		bubble(t, func(t *testing.T, fs *vfs.Memory) {
			j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
			j.must(1, messages(1, 100, "m")...)
			time.Sleep(time.Second)
			for seq := range n + 1 {
				if seq > 0 {
					time.Sleep(3 * time.Millisecond)
				}
				j.Append(1, []store.Record{run(store.Remove, 1+seq, 1+seq)}, nil)
			}
			handled := n + 1
			if n > 0 {
				time.Sleep(earlyPause)
			}
			synctest.Wait()
			if there := j.killed(fs, fs.Kill); len(there) != 100-int(handled) {
				t.Errorf("%d acknowledged, %d left", handled, len(there))
			}
		})
	}
}

// TestWrittenBehindASync_DUR5: however long a sync takes, records behind it are in the file within earlyPause. A power
// failure may lose them and the batch that was being synced, in any combination, without damage.
func TestWrittenBehindASync_DUR5(t *testing.T) {
	for seed := range uint64(40) {
		for _, kill := range []bool{true, false} {
			t.Run(fmt.Sprint(seed, kill), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					fs := vfs.NewMemory(seed)
					must(t, fs.MakeDir("/data"))
					disk := &slow{FS: fs, resume: make(chan struct{})}
					j := open(t, disk, "/data/journal", Options{SegmentSize: smallSegment})
					j.must(1, messages(1, 100, "m")...)
					time.Sleep(time.Second)
					synctest.Wait()
					disk.hang = true
					for seq := range uint64(3) {
						j.Append(1, []store.Record{message(101+seq, "unconfirmed")}, func(error) {})
						time.Sleep(time.Millisecond)
					}
					for seq := range uint64(20) {
						j.Append(1, []store.Record{run(store.Remove, 1+seq, 1+seq)}, nil)
						time.Sleep(time.Millisecond)
					}
					time.Sleep(earlyPause)
					synctest.Wait()
					fs.CrashAfter(0)
					close(disk.resume)
					end := fs.Crash
					if kill {
						end = fs.Kill
					}
					there := j.killed(fs, end)
					if kill && len(there) != 83 || !kill && len(there) < 80 {
						t.Errorf("%d left: %v", len(there), there)
					}
				})
			})
		}
	}
}

// TestTornBehindASync_DUR5: a batch that is not what was written, with the next one behind it, was being synced if the
// next one was written ahead; otherwise it was durable and is damaged.
func TestTornBehindASync_DUR5(t *testing.T) {
	for _, durable := range []bool{true, false} {
		bubble(t, func(t *testing.T, fs *vfs.Memory) {
			disk := &slow{FS: fs, resume: make(chan struct{})}
			j := open(t, disk, "/data/journal", Options{SegmentSize: smallSegment})
			j.must(1, messages(1, 10, "m")...)
			time.Sleep(time.Second)
			synctest.Wait()
			disk.hang = !durable
			last := []store.Record{message(11, "synced or not")}
			j.Append(1, last, func(error) {})
			time.Sleep(time.Millisecond)
			j.Append(1, []store.Record{run(store.Remove, 1, 5)}, nil)
			time.Sleep(earlyPause)
			synctest.Wait()
			seq, at := format.PlaceOf(last[0].Position)
			fs.CrashAfter(0)
			close(disk.resume)
			_ = j.Close()
			fs.Kill()
			if !fs.Flip(j.table.path(seq), at+20, 3) {
				t.Fatal("nothing is there")
			}
			again := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
			if damaged := len(again.report.Damages) > 0; damaged != durable {
				t.Errorf("durable: %v, %+v", durable, again.report.Damages)
			}
			if there := seqs(again.Take(1)); !durable && len(there) != 10 { // the acknowledgements behind it are not there either

				t.Errorf("%v", there)
			}
			again.close()
		})
	}
}

// TestNoRoomBehindASync_DUR4: a batch that is written again for lack of room does not destroy the one behind it, which
// begins in its last page and was written ahead.
func TestNoRoomBehindASync_DUR4(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		disk := &slow{FS: fs, resume: make(chan struct{})}
		j := open(t, disk, "/data/journal", Options{SegmentSize: smallSegment})
		j.must(1, messages(1, 10, "m")...)
		time.Sleep(time.Second)
		synctest.Wait()
		disk.hang = true
		j.Append(1, []store.Record{message(11, "synced twice")}, func(err error) { must(t, err) })
		time.Sleep(time.Millisecond)
		j.Append(1, append(messages(12, 15, "behind it"), run(store.Remove, 1, 5)), func(err error) { must(t, err) })
		time.Sleep(2 * earlyPause)
		synctest.Wait()
		failed := false
		fs.Fail(func(o vfs.Operation) *vfs.Fault {
			if o.Kind != vfs.Sync || failed {
				return nil
			}
			failed = true
			return &vfs.Fault{Err: vfs.ErrFull}
		})
		close(disk.resume)
		time.Sleep(time.Second)
		if there := j.killed(fs, fs.Crash); len(there) != 10 || there[0] != 6 {
			t.Errorf("%v", there)
		}
	})
}
