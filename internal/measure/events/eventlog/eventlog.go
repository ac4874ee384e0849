package eventlog

import (
	"bytes"

	"candlemark/internal/measure/events"
	"candlemark/internal/text/jsonencode"
	"candlemark/internal/text/redact"
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

// Line implements events.Log.
func (l *Log) Line(record events.Record) func(*events.Event) {
	line := l.begin(record)
	if !line.Enabled() {
		return nil
	}
	return func(e *events.Event) { l.write(line, e) }
}

// begin begins a line, nil if the logger's level or its sampler drops it.
func (l *Log) begin(record events.Record) *zerolog.Event {
	switch record {
	case events.Change:
		return l.log.Info()
	case events.Routine:
		return l.log.Debug()
	case events.Unrecorded:
	}
	return nil
}

// maxRecorded is the maximum size in bytes of the JSON of the new state, and of the old one, in a line.
const maxRecorded = 4000

func (l *Log) write(line *zerolog.Event, e *events.Event) {
	line = line.Str("event", e.Name)
	if by := e.By; by != nil {
		line = line.Str("user", by.User).Str("source", by.Source).Str("interface", by.Interface)
	} else {
		line = line.Str("interface", "broker")
	}
	line = line.RawJSON("what", recorded(l.json(e.Fields)))
	if e.Before != nil {
		line = line.RawJSON("before", recorded(redact.JSON(jsonencode.Marshal(e.Before))))
	}
	line.Msg("on record")
}

// recorded returns JSON in the form for a line.
func recorded(text []byte) []byte {
	if len(text) > maxRecorded {
		text = jsonencode.Marshal(map[string]any{"size_bytes": len(text), "begins": string(bytes.ToValidUTF8(text[:maxRecorded], nil))})
	}
	return text
}
