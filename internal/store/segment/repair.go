package segment

import (
	"errors"
	"fmt"

	"candlemark/internal/store/segment/recovery"
	"candlemark/internal/store/vfs"
)

// Repair brings a journal into order: damaged files are copied to the folder quarantine beside it, unreadable
// messages are given up, readable ones moved out of them, and a checkpoint lists the remaining messages. A broker
// that starts does the same, the moving a little later.
func Repair(fs vfs.FS, dir string) (recovery.Report, error) {
	f, err := recovery.Look(fs, dir)
	if err != nil {
		return recovery.Report{}, fmt.Errorf("journal: %w", err)
	}
	o := Options{}
	if len(f.Segments) > 0 {
		o.SegmentSize = f.Segments[0].Size
	}
	j, report, err := load(fs, dir, o)
	if err != nil {
		return recovery.Report{}, err
	}
	j.start()
	for err == nil && j.worth() {
		err = j.round()
	}
	if err == nil {
		err = j.checkpoint()
	}
	j.startKeeper()
	return report, errors.Join(err, j.Close())
}
