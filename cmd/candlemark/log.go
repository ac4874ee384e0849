package main

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"candlemark/internal/config"

	"github.com/rs/zerolog"
)

func logger(out io.Writer, cfg config.Config) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(cfg.LogLevel)
	if err != nil {
		return zerolog.Logger{}, fmt.Errorf("log-level: %w", err)
	}
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	out = printable{out}
	if cfg.LogFormat == "console" {
		out = zerolog.ConsoleWriter{Out: out, NoColor: true, TimeFormat: zerolog.TimeFieldFormat}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger(), nil
}

// printable writes lines of a log, each of which is one call, with everything escaped
// that is not printable: whatever names, properties and texts of clients come to stand
// in a line, they begin no other one and tell a terminal nothing. The escapes are those
// of JSON.
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
