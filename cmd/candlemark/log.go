package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"candlemark/internal/admin/config"
	"candlemark/internal/text/redact"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
)

// logLevel is the lowest level that is logged. It may change at any time.
type logLevel struct{ atomic.Int32 }

// processLevel is the level of the process, which has one log.
var processLevel = &logLevel{}

// Sample implements zerolog.Sampler.
func (l *logLevel) Sample(of zerolog.Level) bool { return int32(of) >= l.Load() }

// set takes the name of a level.
func (l *logLevel) set(name string) error {
	name, err := config.Level(name)
	if err != nil {
		return err
	}
	level, err := zerolog.ParseLevel(name)
	if err != nil {
		panic(err) // a level without a name of zerolog
	}
	l.Store(int32(level))
	return nil
}

func logger(out io.Writer, cfg config.Config) (zerolog.Logger, *logLevel, error) {
	level := processLevel
	if err := level.set(cfg.LogLevel); err != nil {
		return zerolog.Logger{}, nil, err
	}
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	if cfg.LogFormat == "console" && onTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		out = coloured{out}
	}
	out = printable{out}
	if cfg.LogFormat == "console" {
		out = zerolog.ConsoleWriter{Out: out, NoColor: true, TimeFormat: zerolog.TimeFieldFormat}
	}
	return zerolog.New(discreet{io.MultiWriter(processLog, out)}).Level(zerolog.TraceLevel).Sample(level).With().Timestamp().Logger(), level, nil
}

// onTerminal reports whether the output is a terminal that knows colours.
func onTerminal(out io.Writer) bool {
	file, is := out.(*os.File)
	return is && isatty.IsTerminal(file.Fd()) && (runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "")
}

// colours of the levels on a terminal: escape sequences of ECMA-48.
var colours = map[string]string{"INF": "\x1b[32m", "WRN": "\x1b[33m", "ERR": "\x1b[31m", "FTL": "\x1b[31m"}

// coloured colours the time and the level of lines of the console format. The rest of a line, which has texts of clients,
// gets no escape sequence.
type coloured struct{ out io.Writer }

// Write implements io.Writer; each line is one call.
func (c coloured) Write(line []byte) (int, error) {
	const dim, off = "\x1b[90m", "\x1b[0m"
	text := string(line)
	at, rest, _ := strings.Cut(text, " ")
	if level, rest, found := strings.Cut(rest, " "); found {
		text = dim + at + off + " " + cmp.Or(colours[level], dim) + level + off + " " + rest
	}
	if _, err := io.WriteString(c.out, text); err != nil {
		return 0, err
	}
	return len(line), nil
}

// discreet removes secrets from log lines (ACC-11): errors and the reasons of panics may contain what a peer has sent. Each
// Write is one line.
type discreet struct{ out io.Writer }

// Write implements io.Writer.
func (d discreet) Write(line []byte) (int, error) {
	if _, err := io.WriteString(d.out, redact.Text(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// printable escapes everything unprintable in log lines; each Write is one line. So names, properties and texts of
// clients neither start new lines nor control a terminal. The escapes are JSON's.
type printable struct{ out io.Writer }

// Write implements io.Writer.
func (p printable) Write(line []byte) (int, error) {
	text, end := bytes.CutSuffix(line, []byte("\n"))
	if bytes.ContainsFunc(text, hidden) {
		text = escaped(text)
	}
	if end {
		text = append(text[:len(text):len(text)], '\n')
	}
	if _, err := p.out.Write(text); err != nil {
		return 0, err
	}
	return len(line), nil
}

func hidden(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

func escaped(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		high, low := utf16.EncodeRune(r)
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case high != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
