package eventlog

import (
	"bytes"

	"candlemark/internal/events"
	"candlemark/internal/jsonencode"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Log implements events.Log. It is created by New.
type Log struct {
	log  zerolog.Logger
	json func(protocol.Table) []byte
}

// New writes to log. json returns the JSON form of a field table.
func New(log zerolog.Logger, json func(protocol.Table) []byte) *Log { return &Log{log, json} }

// Enabled implements events.Log.
func (l *Log) Enabled(record events.Record) bool {
	if record == events.Unrecorded {
		return false
	}
	line := l.log.WithLevel(levelOf(record)) // nil also if the log's sampler drops that level
	defer line.Discard()
	return line.Enabled()
}

func levelOf(record events.Record) zerolog.Level {
	if record == events.Change {
		return zerolog.InfoLevel
	}
	return zerolog.DebugLevel
}

// maxRecorded is the maximum size in bytes of the JSON of the new state, and of the old one, in a line.
const maxRecorded = 4000

// Write implements events.Log.
func (l *Log) Write(record events.Record, e *events.Event) {
	line := l.log.WithLevel(levelOf(record)).Str("event", e.Name)
	if by := e.By; by != nil {
		line = line.Str("user", by.User).Str("source", by.Source).Str("interface", by.Interface)
	} else {
		line = line.Str("interface", "broker")
	}
	line = line.RawJSON("what", recorded(l.json(e.Fields)))
	if e.Before != nil {
		line = line.RawJSON("before", recorded(jsonencode.Marshal(e.Before)))
	}
	line.Msg("on record")
}

// recorded returns JSON in the form for a line.
func recorded(text []byte) []byte {
	text = events.Redacted(text)
	if len(text) > maxRecorded {
		text = jsonencode.Marshal(map[string]any{"size_bytes": len(text), "begins": string(bytes.ToValidUTF8(text[:maxRecorded], nil))})
	}
	return text
}
