package testclock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store/vfs"
)

// FileName is the name of the file in a data folder made with a test clock (CLK-9). It holds a time that the clock had not passed.
const FileName = "TEST-CLOCK"

// Stored is the contents of the file.
type Stored struct {
	Time  time.Time `json:"time"`
	Mode  string    `json:"mode"` // frozen or running
	Speed float64   `json:"speed"`
}

// Load reads the file of a data folder; found is false if there is none.
func Load(folder string) (s Stored, found bool, err error) {
	text, err := os.ReadFile(filepath.Join(folder, FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil && s.Time.IsZero() {
		err = errors.New("it has no time")
	}
	if err != nil {
		return s, true, fmt.Errorf("the file %s: %w", FileName, err)
	}
	return s, true, nil
}

// Store writes the file, so that after a crash it has the old or the new contents.
func Store(path string, s Stored) (err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(path))
}

// save writes the file, if there is one.
func (k *Keeper) save(at clock.Instant, speed float64) error {
	if k.cfg.File == "" {
		return nil
	}
	s := Stored{Time: time.Unix(0, int64(at)).UTC(), Mode: "frozen", Speed: speed}
	if speed != 0 {
		s.Mode = "running"
	}
	return Store(k.cfg.File, s)
}
