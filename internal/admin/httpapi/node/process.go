package node

import (
	"net/http"
	"strconv"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// logLevel returns the lowest level that is logged.
func logLevel(r *rest.Request) (any, error) {
	return map[string]string{"level": r.Broker.LogLevel()}, nil
}

// setLogLevel takes {"level": "debug"}.
func setLogLevel(r *rest.Request) (any, error) {
	b := r.JSON("level")
	level := b.Text("level")
	if b.Err != nil {
		return nil, b.Err
	}
	before := r.Broker.LogLevel()
	if err := r.Broker.SetLogLevel(level); err != nil {
		return nil, rest.Invalid(err)
	}
	after := r.Broker.LogLevel()
	record := func() { r.Record("log.level.set", "", protocol.Table{{Key: "level", Value: after}}, before) }
	if hides(after) && !hides(before) { // let this line be the last one
		_ = r.Broker.SetLogLevel(before) // it was valid
		record()
		return nil, r.Broker.SetLogLevel(after)
	}
	record()
	return nil, nil
}

// logLine is the JSON form of a line of the log.
type logLine struct {
	ID   uint64 `json:"id"`
	Line string `json:"line"`
}

// logLines answers with the last lines of the log, or with the lines after one of them: ?after=id.
func logLines(r *rest.Request) (any, error) {
	after := uint64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, rest.Complaintf("after: %q is not the number of a log line", text)
		}
	}
	return rest.Forms(r.Broker.Log(after), func(*management.LogLine) bool { return true }, func(l *management.LogLine) logLine { return logLine{l.ID, l.Text} }), nil
}

// settingItem is the JSON form of a setting.
type settingItem struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// settings lists the settings, and where each was set. Secrets are not shown.
func settings(r *rest.Request) (any, error) {
	return rest.Forms(r.Broker.Settings(), func(*config.Value) bool { return true }, func(v *config.Value) settingItem {
		item := settingItem{v.Name, v.Text, v.From}
		if v.Secret {
			item.Value = "(hidden)"
		}
		return item
	}), nil
}

// hides reports whether the log has no lines about changes.
func hides(level string) bool { return level != "trace" && level != "debug" && level != "info" }

// shutdown stops the broker after the answer.
func shutdown(r *rest.Request) (any, error) {
	r.Record("broker.shutdown.requested", "", protocol.Table{}, nil)
	return rest.Stream(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusNoContent)
		r.Broker.Shutdown()
	}), nil
}
