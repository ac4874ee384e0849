package offline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// JournalUsage are the command lines of the verb journal.
const JournalUsage = "candlemark journal check|dump|repair [--data-dir <folder>]\n" +
	"candlemark journal adopt [--data-dir <folder>] [--as <name> [--vhost <vhost>]] [--arguments <json>] [<queue>…]\n" +
	"candlemark journal drop [--data-dir <folder>] <queue>…"

const journalHelp = JournalUsage + "\n\n" +
	"  check   reads the journal and reports damage\n" +
	"  dump    prints the names of queues and the records\n" +
	"  repair  moves intact records out of damaged files and reports losses\n" +
	"  adopt   declares queues that have messages in the journal and are missing from the definitions: the named\n" +
	"          ones or all; as durable queues with the names in the journal; all or nothing\n" +
	"  drop    drops the messages of queues that are missing from the definitions, all or nothing\n\n" +
	"Stop the broker first. A <queue> is given as <vhost>/<name>, so //orders is the queue\n" +
	"'orders' in the vhost '/', or by its number as shown by dump and by a failed start.\n\n"

// Tool works on the data folder of a broker that is not running.
type Tool struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	// Founders returns the first users of a broker with that data folder.
	Founders func(dir string) (*auth.Users, error)
}

// Journal inspects or changes the messages, and returns the exit code: 0 if all is well, 1 if something is damaged.
func (t *Tool) Journal(args []string) int {
	stdout, stderr := t.Stdout, t.Stderr
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		args = []string{"check", "--help"}
	}
	if len(args) == 0 {
		fmt.Fprintln(stderr, JournalUsage)
		return commandline.ExitUsage
	}
	flags := flaghelp.New("candlemark journal")
	dir := flags.String("data-dir", config.DataDir(t.Getenv), "data `folder` of the broker")
	a := adoption{founders: t.Founders}
	a.options(flags)
	switch err := flags.Parse(args[1:]); {
	case err != nil:
		return flaghelp.Exit(err, flags, journalHelp, stdout, stderr)
	case !slices.Contains(strings.Fields("check dump repair adopt drop"), args[0]),
		flags.NArg() > 0 && args[0] != "drop" && args[0] != "adopt", flags.NArg() == 0 && args[0] == "drop",
		a.as+a.vhost+a.arguments != "" && args[0] != "adopt":
		fmt.Fprintln(stderr, JournalUsage)
		return commandline.ExitUsage
	}
	switch a.queues = flags.Args(); args[0] {
	case "drop":
		return withJournal(*dir, stderr, func(defs definitions.Store, j store.Journal) error { return dropQueues(defs, j, a.queues, stdout) })
	case "adopt":
		return withJournal(*dir, stderr, func(defs definitions.Store, j store.Journal) error { return a.adopt(*dir, defs, j, stdout) })
	}
	return t.inspect(args[0], *dir)
}

// inspect runs the verbs that do not use the definitions.
func (t *Tool) inspect(verb, dir string) int {
	stdout, stderr := t.Stdout, t.Stderr
	belongs, unlock, err := lockData(dir)
	if err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return commandline.ExitUnavailable
	}
	defer unlock()
	var report recovery.Report
	path := filepath.Join(dir, segment.Folder)
	switch verb {
	case "check":
		if report, err = recovery.Check(vfs.OS, path); errors.Is(err, fs.ErrNotExist) && belongs.journal != 0 {
			report, err = recovery.Missing(), nil
		}
	case "repair":
		report, err = segment.Repair(vfs.OS, path)
	case "dump":
		if err = recovery.Dump(vfs.OS, path, stdout); err == nil {
			return 0
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return commandline.ExitSoftware
	}
	belongs.expect(&report)
	return printReport(stdout, report)
}

// belonging states which journal belongs to the definitions.
type belonging struct {
	journal uint64 // its identity, 0 if it is not known
	missing bool   // there are no definitions
}

// expect adds damage if the journal is not the one of the definitions, or was in use with definitions now missing.
func (b belonging) expect(report *recovery.Report) {
	report.Expect(b.journal)
	if b.missing && report.Journal != 0 {
		report.Damages = append(report.Damages, recovery.Damage{File: definitions.FileName, Text: "the file with the definitions of queues and users is missing"})
	}
}

// withJournal changes the journal of a broker that is not running, and returns the exit code.
func withJournal(dir string, stderr io.Writer, change func(definitions.Store, store.Journal) error) int {
	path := filepath.Join(dir, segment.Folder)
	if _, err := os.Stat(path); err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return commandline.ExitSoftware
	}
	defs, err := definitions.Open(dir)
	if err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", stopFirst(err))
		return commandline.ExitUnavailable
	}
	j, _, err := segment.Open(vfs.OS, path, segment.Options{})
	if err == nil {
		err = errors.Join(change(defs, j), j.Close())
	}
	if err = errors.Join(err, defs.Close()); err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return commandline.ExitSoftware
	}
	return 0
}

// stopFirst adds to the error for a running broker what to do about it.
func stopFirst(err error) error {
	if errors.Is(err, definitions.ErrInUse) {
		return fmt.Errorf("%w: stop it first, or look at another folder with --data-dir", err)
	}
	return err
}

// lockData keeps brokers out of a data folder, and reads what the definitions say about the journal. A folder whose
// definitions are damaged cannot be locked, but no broker runs on it either.
func lockData(dir string) (b belonging, unlock func(), err error) {
	unlock = func() {}
	if _, err := os.Stat(filepath.Join(dir, definitions.FileName)); err != nil {
		return belonging{missing: errors.Is(err, fs.ErrNotExist)}, unlock, nil
	}
	defs, err := definitions.Open(dir)
	if errors.Is(err, definitions.ErrInUse) {
		return b, unlock, stopFirst(err)
	}
	if err == nil {
		unlock = func() { _ = defs.Close() }
		b.journal, err = defs.Journal()
	}
	return b, unlock, err
}

func printReport(out io.Writer, r recovery.Report) int {
	fmt.Fprintf(out, "%d segments, %d messages with %d bytes, %d records after the checkpoint\n",
		r.Segments, r.Messages, r.Bytes, r.Records)
	if r.TornTail > 0 {
		fmt.Fprintf(out, "%d bytes at the end belong to an interrupted write; they were never confirmed\n", r.TornTail)
	}
	if len(r.Damages) == 0 {
		fmt.Fprintln(out, "no damage found")
		return 0
	}
	for _, d := range r.Damages {
		fmt.Fprintln(out, "damaged:", d)
		for _, m := range d.Messages {
			fmt.Fprintf(out, "  lost: message %d of %s\n", m.Seq, store.Title(m.Queue, r.Names))
		}
	}
	return 1
}
