package offline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"candlemark/internal/admin/backup"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// RestoreUsage is the command line of the verb restore.
const RestoreUsage = "candlemark restore <backup> [--data-dir <folder> | --check]"

const restoreHelp = RestoreUsage + "\n\n" +
	"Checks a backup and restores it to a data folder, which must be empty or missing.\n\n"

// Restore creates a data folder from a backup, and returns the exit code: 0 if all is well, 1 if something was damaged
// when the backup was taken.
func (t *Tool) Restore(ctx context.Context, args []string) int {
	flags := flaghelp.New("candlemark restore")
	dir := flags.String("data-dir", config.DataDir(t.Getenv), "data `folder` to restore to")
	check := flags.Bool("check", false, "only check the backup and list its contents")
	var folders []string
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return flaghelp.Exit(err, flags, restoreHelp, t.Stdout, t.Stderr)
		}
		if args = flags.Args(); len(args) > 0 { // options may follow it
			folders, args = append(folders, args[0]), args[1:]
		}
	}
	if len(folders) != 1 {
		fmt.Fprintln(t.Stderr, RestoreUsage)
		return commandline.ExitUsage
	}
	code, err := t.restore(ctx, folders[0], *dir, *check)
	if err != nil {
		fmt.Fprintln(t.Stderr, "candlemark restore:", err)
		return commandline.ExitSoftware
	}
	return code
}

func (t *Tool) restore(ctx context.Context, from, to string, check bool) (code int, err error) {
	var m *backup.Manifest
	if check {
		m, err = backup.Check(ctx, vfs.OS, from)
	} else {
		m, err = backup.Restore(ctx, vfs.OS, from, to)
	}
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(t.Stdout, "backup of %s, taken %s by version %s: %d messages, definitions of revision %d, %d bytes in %d files\n",
		m.Node, m.Taken.Format("2006-01-02T15:04:05.000Z"), m.Version, m.Messages, m.Revision, m.Bytes(), len(m.Files))
	if check {
		fmt.Fprintln(t.Stdout, "all files are intact")
		return 0, nil
	}
	defs, err := definitions.Open(to)
	if err != nil {
		return 0, err
	}
	report, err := recovery.Check(vfs.OS, filepath.Join(to, segment.Folder))
	journal, err2 := defs.Journal()
	if err = errors.Join(err, err2, defs.Close()); err != nil {
		return 0, err
	}
	report.Expect(journal)
	fmt.Fprintf(t.Stdout, "restored to %s\n", to)
	return printReport(t.Stdout, report), nil
}
