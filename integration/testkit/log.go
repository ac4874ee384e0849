package testkit

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
)

// Log collects what the broker logs, and fails the test on errors that were not
// allowed.
type Log struct {
	mu      sync.Mutex
	lines   []string
	errors  []string
	allowed []string
}

var _ zerolog.LevelWriter = (*Log)(nil)

// Allow lets lines at the error level pass that contain one of the texts.
func (l *Log) Allow(texts ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed = append(l.allowed, texts...)
}

// Count returns how many lines contain text.
func (l *Log) Count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// Write implements io.Writer.
func (l *Log) Write(line []byte) (int, error) { return l.WriteLevel(zerolog.NoLevel, line) }

// WriteLevel implements zerolog.LevelWriter.
func (l *Log) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(line))
	l.lines = append(l.lines, text)
	if level >= zerolog.ErrorLevel && level < zerolog.NoLevel {
		l.errors = append(l.errors, text)
	}
	return len(line), nil
}

func (l *Log) check(t *testing.T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.errors {
		if !slices.ContainsFunc(l.allowed, func(text string) bool { return strings.Contains(line, text) }) {
			t.Error("logged:", line)
		}
	}
	if t.Failed() {
		t.Log("broker log:\n" + strings.Join(l.lines, "\n"))
	}
}
