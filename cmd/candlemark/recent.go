package main

import (
	"sync"

	"candlemark/internal/admin/management"
)

// The bounds of recentLines.
const (
	maxRecentLines = 500
	maxRecentBytes = 256 << 10
)

// recentLines are the last lines of the log, as JSON. They are bounded by number and bytes, and safe for concurrent use.
type recentLines struct {
	mu    sync.Mutex
	lines []management.LogLine
	bytes int
	last  uint64
}

// processLog has the last lines of the process, which has one log.
var processLog = &recentLines{}

// Write implements io.Writer; each line is one call. A line that exceeds the whole buffer is cut.
func (r *recentLines) Write(line []byte) (int, error) {
	n := len(line)
	if n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	text := string(line[:min(len(line), maxRecentBytes)])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.lines = append(r.lines, management.LogLine{ID: r.last, Text: text})
	r.bytes += len(text)
	for len(r.lines) > maxRecentLines || r.bytes > maxRecentBytes {
		r.bytes -= len(r.lines[0].Text)
		r.lines[0].Text = ""
		r.lines = r.lines[1:]
	}
	return n, nil
}

// after returns the lines after the one with that number.
func (r *recentLines) after(id uint64) []management.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.lines {
		if r.lines[i].ID > id {
			return append([]management.LogLine{}, r.lines[i:]...)
		}
	}
	return nil
}
