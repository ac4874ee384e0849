package flaghelp

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"

	"candlemark/internal/text/suggest"
)

// exitUsage is the exit code for a wrong command line.
const exitUsage = 64

// New returns an empty flag set of a command, which prints nothing by itself: Exit reports the errors of Parse.
func New(command string) *flag.FlagSet {
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// named finds the flag in an error of package flag.
var named = regexp.MustCompile(`(flag|defined:|argument:|value ".*" for) -([A-Za-z][A-Za-z0-9-]*)`)

// Reason returns the text of an error of Parse with two dashes before the flag and, if the flag is unknown, the one among known that was
// probably meant.
func Reason(err error, known []string) string {
	text := named.ReplaceAllString(err.Error(), "$1 --$2")
	if _, name, unknown := strings.Cut(text, "not defined: --"); unknown {
		if meant := suggest.Closest(name, known); meant != "" {
			text += "; did you mean --" + meant + "?"
		}
	}
	return text
}

// Exit reports an error of Parse and returns the exit code: for flag.ErrHelp it prints head and the flags to stdout and
// returns 0, for any other error it prints that and where help is to stderr and returns 64.
func Exit(err error, f *flag.FlagSet, head string, stdout, stderr io.Writer) int {
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, head)
		Print(stdout, f)
		return 0
	}
	var known []string
	f.VisitAll(func(one *flag.Flag) { known = append(known, one.Name) })
	fmt.Fprintf(stderr, "%s: %s\n%s --help lists the flags\n", f.Name(), Reason(err, known), f.Name())
	return exitUsage
}

// Print writes the flags in alphabetical order, each with its value, its meaning and its default.
func Print(out io.Writer, f *flag.FlagSet) {
	f.VisitAll(func(one *flag.Flag) {
		value, about := flag.UnquoteUsage(one)
		line := "--" + one.Name
		if len(one.Name) == 1 {
			line = line[1:]
		}
		if value != "" {
			line += " <" + value + ">"
		}
		if one.DefValue != "" && one.DefValue != "false" && one.DefValue != "0" {
			about += " (default " + one.DefValue + ")"
		}
		fmt.Fprintf(out, "  %s\n\t%s\n", line, strings.ReplaceAll(about, "\n", "\n\t"))
	})
}
