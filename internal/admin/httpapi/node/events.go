package node

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/measure/events"
	"candlemark/internal/text/jsonencode"
	"candlemark/protocol"
)

// The bounds of a listener's requests and buffers.
const (
	listenRoom  = 1000 // events that it has not read yet
	maxPatterns = 16
	maxPattern  = 255              // bytes
	keepAlive   = 15 * time.Second // between signs of life
)

// openEvents are the events for all users that may open the virtual host: they do not reveal other users.
var openEvents = []string{"queue.", "exchange.", "binding.", "policy.", "schedule."}

// listen sends events as server-sent events for as long as the client listens.
func listen(r *rest.Request) (any, error) {
	patterns, err := patternsOf(r.URL.Query()["pattern"])
	if err != nil || r.Method == http.MethodHead {
		return nil, err
	}
	leave, entered := r.Streams.Enter(r.User.Name)
	if !entered {
		r.W.Header().Set("Retry-After", "60")
		return nil, rest.Refuse(http.StatusServiceUnavailable, "service_unavailable", "too many listeners")
	}
	monitors := r.Monitors()
	return rest.Stream(func(w http.ResponseWriter, plain *http.Request) {
		defer leave()
		l := r.Broker.Events().Listen(listenRoom, func(e *events.Event) bool {
			return matchesAny(patterns, e.Name) && (monitors || mayKnow(r, e))
		}, nil)
		defer l.Close()
		(&stream{http.NewResponseController(w), w}).run(r, plain, l)
	}), nil
}

func patternsOf(texts []string) (patterns []events.Pattern, err error) {
	if len(texts) > maxPatterns {
		return nil, rest.Complaintf("at most %d patterns", maxPatterns)
	}
	for _, text := range texts {
		if len(text) > maxPattern {
			return nil, rest.Complaintf("a pattern has at most %d bytes", maxPattern)
		}
		patterns = append(patterns, events.ParsePattern(text))
	}
	return patterns, nil
}

func matchesAny(patterns []events.Pattern, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p events.Pattern) bool { return p.Matches(name) })
}

// mayKnow reports whether a user without the tag monitoring may get an event.
func mayKnow(r *rest.Request, e *events.Event) bool {
	return slices.ContainsFunc(openEvents, func(kind string) bool { return strings.HasPrefix(e.Name, kind) }) &&
		e.VHost != "" && r.Users.VHostAccess(r.User, e.VHost) == nil
}

// stream is a continuing answer.
type stream struct {
	control *http.ResponseController
	w       http.ResponseWriter
}

// run writes the events of a listener until the client or the server ends, or the user has changed.
func (s *stream) run(r *rest.Request, plain *http.Request, l *events.Listener) {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	_ = s.control.SetReadDeadline(time.Time{}) // nothing more is read, so there must be no deadline
	ticks := time.NewTicker(keepAlive)
	defer ticks.Stop()
	changed := r.Users.Replaced()
	for sent := r.IsStill() && s.write(": events\n\n"); sent; {
		select {
		case <-plain.Context().Done():
			return
		case <-r.Streams.Ended():
			return
		case <-changed:
			changed = r.Users.Replaced()
			sent = r.IsStill()
		case e := <-l.C: // the event of a change that ends the stream is not sent
			sent = r.IsStill() && s.lost(e.Lost) && s.event(e.Event)
			l.Done(e)
		case <-ticks.C:
			sent = r.IsStill() && s.lost(l.Missed()) && s.write(": still here\n\n")
		}
	}
}

// event writes an event: its name, and everything as JSON.
func (s *stream) event(e *events.Event) bool {
	fields := append(protocol.Table{{Key: "event", Value: e.Name}}, e.Headers()...)
	return s.write("event: " + e.Name + "\ndata: " + string(jsonencode.Marshal(forms.Object(fields))) + "\n\n")
}

// lost tells the client how many events it has missed.
func (s *stream) lost(n uint64) bool {
	return n == 0 || s.write("event: lost\ndata: "+string(jsonencode.Marshal(map[string]uint64{"lost": n}))+"\n\n")
}

// write sends a text; false if the client has gone or does not read.
func (s *stream) write(text string) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(rest.Writing)) // if it supports deadlines
	_, err := s.w.Write([]byte(text))
	return err == nil && s.control.Flush() == nil
}
