package storetest_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"sync"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/memory"
	"candlemark/internal/storage/store/storetest"
	"candlemark/internal/storage/store/vfs"
)

// toy is the simplest journal that survives a crash: one file, and one sync per append. It shows that the crash runs do
// not demand the impossible.
type toy struct {
	*memory.Journal
	mu     sync.Mutex
	file   vfs.File
	end    int64
	broken error
	failed func(error)
}

type batch struct {
	Queue   store.QueueID
	Records []store.Record
}

func openToy(f vfs.FS, failed func(error), _ func(bool)) (store.Journal, error) {
	size, err := f.Stat("log")
	if errors.Is(err, fs.ErrNotExist) {
		_, err = f.Create("log", 0)
		err = errors.Join(err, f.SyncDir("."))
	}
	if err != nil {
		return nil, err
	}
	t := &toy{failed: failed}
	if t.file, err = f.Open("log"); err != nil {
		return nil, err
	}
	all := make([]byte, size)
	if n, err := t.file.ReadAt(all, 0); int64(n) != size {
		return nil, err
	}
	if err := t.file.Sync(); err != nil { // what was only written, before a kill
		return nil, err
	}
	old := memory.New(memory.Options{})
	for rest := all; len(rest) > 8; {
		n := int(binary.LittleEndian.Uint32(rest))
		if n == 0 || len(rest) < 8+n || crc32.ChecksumIEEE(rest[8:8+n]) != binary.LittleEndian.Uint32(rest[4:]) {
			break
		}
		var b batch
		if err := json.Unmarshal(rest[8:8+n], &b); err != nil {
			return nil, err
		}
		old.Append(b.Queue, b.Records, nil)
		rest = rest[8+n:]
		t.end += int64(8 + n)
	}
	t.Journal = old.Reopen(memory.Options{})
	return t, nil
}

func (t *toy) Append(q store.QueueID, records []store.Record, done func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil && len(records) > 0 {
		if t.broken = t.write(batch{q, records}); t.broken != nil {
			t.failed(t.broken)
		}
	}
	if err := t.broken; err != nil {
		t.Journal.Append(q, nil, func(error) {
			if done != nil {
				done(fmt.Errorf("toy: %w", err))
			}
		})
		return
	}
	t.Journal.Append(q, records, done)
}

func (t *toy) write(b batch) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	line := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	line = binary.LittleEndian.AppendUint32(line, crc32.ChecksumIEEE(text))
	line = append(line, text...)
	if _, err := t.file.WriteAt(line, t.end); err != nil {
		return err
	}
	t.end += int64(len(line))
	return t.file.Sync()
}

func TestCrashRunsOfAToy(t *testing.T) {
	c := storetest.Crashing{Open: openToy}
	for name, fault := range storetest.DiskFaults {
		if fault == storetest.FullDisk || fault == storetest.NoRoom {
			continue // the toy fails where it should wait
		}
		for seed := range uint64(10) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) { c.Run(t, seed, fault) })
		}
	}
}
