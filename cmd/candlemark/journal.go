package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"candlemark/internal/commandline"
	"candlemark/internal/config"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
	"candlemark/internal/store/segment"
	"candlemark/internal/store/segment/recovery"
	"candlemark/internal/store/vfs"
)

const journalUsage = "candlemark journal check|dump|repair [--data-dir <folder>]\n" +
	"candlemark journal drop [--data-dir <folder>] <queue>…"

const journalHelp = journalUsage + "\n\n" +
	"  check   reads everything and reports what is not whole\n" +
	"  dump    prints the names of queues and the records\n" +
	"  repair  moves what is whole out of damaged files, and reports what is lost\n" +
	"  drop    drops the messages of queues that the definitions do not know, all or nothing\n\n" +
	"No broker may be running on the folder. A <queue> is given as <vhost>/<name>, so //orders is the queue\n" +
	"'orders' in the vhost '/', or as the number that a refused start and dump show.\n\n"

// journal looks at the messages in the data folder of a broker that is not running,
// and returns the exit code: 0 if all is well, 1 if something is damaged.
func journal(args []string) int { return inspectJournal(args, os.Getenv, os.Stdout, os.Stderr) }

func inspectJournal(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		args = []string{"check", "--help"}
	}
	if len(args) == 0 {
		fmt.Fprintln(stderr, journalUsage)
		return commandline.ExitUsage
	}
	flags := flag.NewFlagSet("candlemark journal", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, journalHelp)
		flags.PrintDefaults()
	}
	dir := flags.String("data-dir", config.DataDir(getenv), "`folder` of the broker")
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return commandline.ExitUsage
	case (flags.NArg() > 0) != (args[0] == "drop"):
		fmt.Fprintln(stderr, journalUsage)
		return commandline.ExitUsage
	}
	if args[0] == "drop" {
		return dropMessages(*dir, flags.Args(), stdout, stderr)
	}
	unlock, err := lockData(*dir)
	if err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return commandline.ExitUnavailable
	}
	defer unlock()
	var report recovery.Report
	path := filepath.Join(*dir, journalFolder)
	switch args[0] {
	case "check":
		report, err = recovery.Check(vfs.OS, path)
	case "repair":
		report, err = segment.Repair(vfs.OS, path)
	case "dump":
		if err = recovery.Dump(vfs.OS, path, stdout); err == nil {
			return 0
		}
	default:
		fmt.Fprintln(stderr, journalUsage)
		return commandline.ExitUsage
	}
	if err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return commandline.ExitSoftware
	}
	return printReport(stdout, report)
}

// lockData keeps brokers out of a data folder. One whose definitions are damaged
// cannot be locked, but no broker runs on it either.
func lockData(dir string) (unlock func(), err error) {
	unlock = func() {}
	if _, err := os.Stat(filepath.Join(dir, definitions.FileName)); err != nil {
		return unlock, nil
	}
	defs, err := definitions.Open(dir)
	if errors.Is(err, definitions.ErrInUse) {
		return unlock, err
	}
	if err == nil {
		unlock = func() { _ = defs.Close() }
	}
	return unlock, nil
}

func printReport(out io.Writer, r recovery.Report) int {
	fmt.Fprintf(out, "%d segments, %d messages with %d bytes, %d records behind the checkpoint\n",
		r.Segments, r.Messages, r.Bytes, r.Records)
	if r.TornTail > 0 {
		fmt.Fprintf(out, "%d bytes at the end were being written when the broker ended; nobody was told that they are stored\n", r.TornTail)
	}
	if len(r.Damages) == 0 {
		fmt.Fprintln(out, "nothing is damaged")
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
