package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"candlemark/internal/admin/backup"
	"candlemark/internal/admin/config"
	"candlemark/internal/measure/clock"
	"candlemark/supervision/testclock"

	"github.com/rs/zerolog"
)

// chosenClock is the clock of a broker.
type chosenClock struct {
	*clock.Clock
	file  string  // where a test clock is kept; "" for nowhere
	speed float64 // of a test clock at the start
}

// clockFor returns the clock that the settings choose. A data folder is made with or without a test clock, for ever (CLK-10).
func clockFor(cfg config.Config) (chosenClock, error) {
	start, test := cfg.Testing.Start()
	if cfg.InMemory {
		if test {
			return chosenClock{Clock: clock.NewManual(start)}, nil
		}
		return chosenClock{Clock: clock.New()}, nil
	}
	stored, found, err := testclock.Load(cfg.DataDir)
	switch {
	case err != nil:
		return chosenClock{}, fmt.Errorf("data folder: %w", err)
	case found && !test:
		return chosenClock{}, fmt.Errorf("the data folder %s was made with a test clock: its dates are not real; start with --test-clock", cfg.DataDir)
	case !test:
		return chosenClock{Clock: clock.New()}, nil
	case !found:
		if stored, err = begin(cfg.DataDir, start); err != nil {
			return chosenClock{}, err
		}
	case stored.Time.After(start):
		start = stored.Time
	}
	return chosenClock{clock.NewManual(start), filepath.Join(cfg.DataDir, testclock.FileName), stored.Speed}, nil
}

// begin makes a new data folder, or an empty one, that of a broker with a test clock.
func begin(folder string, start time.Time) (testclock.Stored, error) {
	s := testclock.Stored{Time: start.UTC(), Mode: "frozen"}
	held, err := os.ReadDir(folder)
	switch {
	case len(held) > 0:
		return s, fmt.Errorf("the data folder %s was not made with a test clock: use an empty one, or --in-memory", folder)
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return s, fmt.Errorf("data folder: %w", err)
	}
	return s, testclock.Store(filepath.Join(folder, testclock.FileName), s)
}

// loud adds the time of a test clock to each line of the log (CLK-11).
func (c *chosenClock) loud(log zerolog.Logger) zerolog.Logger {
	if !c.Manual() {
		return log
	}
	return log.Hook(zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) { e.Str("clock", c.shown()) }))
}

// shown returns the time that the clock shows.
func (c *chosenClock) shown() string {
	return time.UnixMilli(c.Wall()).UTC().Format("2006-01-02T15:04:05.000Z")
}

// cutClock adds the file of the test clock to a backup, if there is one.
func (d *data) cutClock(c *backup.Cut) error {
	if d.clockFile == "" {
		return nil
	}
	text, err := os.ReadFile(d.clockFile)
	if err == nil {
		size := int64(len(text))
		c.Sources = append(c.Sources, backup.Source{
			Name: testclock.FileName, Size: size, Release: func() {}, From: &backup.Piece{ReaderAt: bytes.NewReader(text), Size: size},
		})
	}
	return err
}

// readiness is the line of --ready-json.
type readiness struct {
	Event     string   `json:"event"`
	PID       int      `json:"pid"`
	AMQP      []string `json:"amqp"`
	AMQPS     []string `json:"amqps"`
	HTTP      *string  `json:"http"`
	HTTPS     *string  `json:"https"`
	Metrics   *string  `json:"metrics"`
	Time      string   `json:"time"`
	TestClock bool     `json:"test_clock"`
}

// ready tells the test that started the broker where it listens. The stop removes the file.
func (b *broker) ready(t config.Testing, out io.Writer) error {
	if !t.ReadyJSON && t.PortFile == "" {
		return nil
	}
	shown := func(a net.Addr) *string {
		if a == nil {
			return nil
		}
		s := a.String()
		return &s
	}
	all := func(list []net.Addr) []string {
		texts := []string{}
		for _, a := range list {
			texts = append(texts, a.String())
		}
		return texts
	}
	line, err := json.Marshal(readiness{
		"ready", os.Getpid(), all(b.AMQP), all(b.AMQPS), shown(b.HTTP), shown(b.HTTPS), shown(b.Metrics), b.clock.shown(), b.clock.Manual(),
	})
	line = append(line, '\n')
	if err == nil && t.PortFile != "" {
		if err = os.WriteFile(t.PortFile+".new", line, 0o600); err == nil {
			err, b.portFile = os.Rename(t.PortFile+".new", t.PortFile), t.PortFile
		}
		if err != nil {
			return fmt.Errorf("port-file: %w", err)
		}
	}
	if err == nil && t.ReadyJSON {
		_, err = out.Write(line)
	}
	return err
}

// withInput returns a context that also ends when the input does, if that is asked for.
func withInput(ctx context.Context, t config.Testing, in io.Reader) context.Context {
	if !t.StopWithStdin {
		return ctx
	}
	ctx, end := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end, too
		end()
	}()
	return ctx
}
