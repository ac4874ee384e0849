package wire

import (
	"strings"

	"github.com/rs/zerolog"
)

// LogWriter passes raft's warnings and errors on.
type LogWriter struct{ Log zerolog.Logger }

// Write implements io.Writer.
func (w LogWriter) Write(b []byte) (int, error) {
	_, text, _ := strings.Cut(strings.TrimSpace(string(b)), "]")
	w.Log.Debug().Str("from", "raft").Msg(strings.TrimSpace(text)) // errors, too: none ends the node
	return len(b), nil
}
