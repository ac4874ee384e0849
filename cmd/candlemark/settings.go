package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"

	"github.com/rs/zerolog"
)

const settingsUsage = "candlemark config check [<file>]\n" +
	"candlemark config show [<flags of serve>]"

// settings checks files or shows the effective settings, and returns the exit code: 0, or 65 if something is wrong with
// the settings.
func settings(args []string) int { return inspectSettings(args, os.Environ(), os.Stdout, os.Stderr) }

func inspectSettings(args, environ []string, stdout, stderr io.Writer) int {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch {
	case verb == "show":
	case verb == "check" && len(args) == 0:
	case verb == "check" && len(args) == 1 && !strings.HasPrefix(args[0], "-"):
		args = []string{"--config", args[0]}
	case verb == "help" || strings.TrimLeft(verb, "-") == "help" || verb == "-h":
		fmt.Fprintln(stdout, settingsUsage)
		return 0
	default:
		fmt.Fprintln(stderr, settingsUsage)
		return commandline.ExitUsage
	}
	flags := flaghelp.New("candlemark config " + verb)
	s, err := config.Load(flags, args, environ)
	if s == nil {
		return flaghelp.Exit(err, flags, settingsUsage+"\n\n", stdout, stderr)
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
	if err == nil {
		_, err = usersFor(s.Config, zerolog.Nop())
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return commandline.ExitData
	}
	if verb == "show" {
		showSettings(s, stdout)
		return 0
	}
	for _, file := range s.Files {
		fmt.Fprintln(stdout, file)
	}
	files := "files"
	if len(s.Files) == 1 {
		files = "file"
	}
	fmt.Fprintf(stdout, "%d %s read, all settings are valid\n", len(s.Files), files)
	return 0
}

// showSettings prints the effective settings and where each was set. Secrets are not shown.
func showSettings(s *config.Settings, out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "setting\tvalue\tfrom")
	for _, v := range s.Values {
		text := v.Text
		switch {
		case v.Secret:
			text = "(hidden)"
		case text == "":
			text = "(none)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, text, v.From)
	}
	_ = w.Flush() // errors of output are ignored
}
