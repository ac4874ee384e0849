package cluster

import (
	"strings"

	"github.com/rs/zerolog"
)

// logWriter passes raft's warnings and errors on.
type logWriter struct{ log zerolog.Logger }

// Write implements io.Writer.
func (w logWriter) Write(b []byte) (int, error) {
	_, text, _ := strings.Cut(strings.TrimSpace(string(b)), "]")
	w.log.Debug().Str("from", "raft").Msg(strings.TrimSpace(text)) // errors, too: none ends the node
	return len(b), nil
}
