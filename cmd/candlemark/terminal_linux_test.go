package main

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"candlemark/internal/admin/config"

	"golang.org/x/sys/unix"
)

// The log of a terminal is coloured, unless the user wants no colours.
func TestTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = terminal.Close() }()
	n, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err != nil || unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0) != nil {
		t.Skip("no terminal:", err)
	}
	program, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = program.Close() }()
	lines := bufio.NewScanner(terminal)
	for noColour, want := range map[string]bool{"": true, "1": false} {
		t.Setenv("NO_COLOR", noColour)
		t.Setenv("TERM", "xterm")
		log, _, err := logger(program, config.Config{LogFormat: "console", LogLevel: "info"})
		if err != nil {
			t.Fatal(err)
		}
		log.Info().Msg("hello")
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		if got := lines.Text()[0] == '\x1b'; got != want {
			t.Errorf("NO_COLOR=%s: %q", noColour, lines.Text())
		}
	}
}
