package segment

import (
	"errors"
	"fmt"

	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// Repair puts a journal in order: it copies damaged files to the folder quarantine beside it, gives up unreadable
// messages, moves readable ones out of damaged files, and writes a checkpoint of the remaining messages. A starting
// broker does the same, but moves messages a little later.
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
