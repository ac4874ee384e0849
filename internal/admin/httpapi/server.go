package httpapi

import (
	stdlog "log"
	"net/http"
	"net/url"
	"strings"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/exposition"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/httpapi/servicebus"
	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/httpapi/ui"
	"candlemark/internal/admin/httpapi/websocket"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// maxHeaders is the maximum size of the headers of a request in bytes.
const maxHeaders = 16 << 10

// NewServer returns the HTTP server of the API with all its limits, including the number of connections, which all its
// listeners share, and the rules for requests from pages of other sites. The caller opens the listeners, with TLS or without, and shuts the server down.
func NewServer(broker management.Broker, users *auth.Users, rules *site.Rules, connections int, samples config.Samples, log zerolog.Logger) *http.Server {
	a, open := rest.New(broker, users, samples, log), newSockets(connections)
	a.Busy = open.works
	a.Streams.Share(connections)
	s := newServer(handlerOf(broker, a, rules), open)
	s.RegisterOnShutdown(a.Close)
	s.ErrorLog = stdlog.New(serverLog{log}, "", 0)
	return s
}

// serverLog logs the messages of an http.Server.
type serverLog struct{ zerolog.Logger }

// Write implements io.Writer. Failed TLS handshakes are not logged, so that port scans do not fill the log.
func (l serverLog) Write(line []byte) (int, error) {
	level, text := zerolog.ErrorLevel, string(line)
	if strings.Contains(text, "TLS handshake error") {
		level = zerolog.DebugLevel
	}
	l.WithLevel(level).Msg(strings.TrimSuffix(text, "\n"))
	return len(line), nil
}

// NewMetricsServer returns the server of a separate port for scrapes without a login, with the metrics of each object at
// /metrics if that is wanted. The rest is as with NewServer.
func NewMetricsServer(broker management.Broker, rules *site.Rules, connections int, perObject bool) *http.Server {
	return newServer(guarded(rules, exposition.NewHandler(broker, perObject)), newSockets(connections))
}

// NewFollowerMetricsServer is NewMetricsServer for a node of a cluster that runs no broker.
func NewFollowerMetricsServer(rules *site.Rules, connections int, state func() management.ClusterState) *http.Server {
	return newServer(guarded(rules, exposition.Nodes(state)), newSockets(connections))
}

// NewServiceBusServer returns the server of a separate port for the administration API of Azure Service Bus, for the
// entities in a virtual host; premium is the tier that it names. The rest is as with NewServer.
func NewServiceBusServer(broker management.Broker, users *auth.Users, rules *site.Rules, vhost string, premium bool, connections int, log zerolog.Logger) *http.Server {
	entities, socket := servicebus.NewHandler(broker, users, vhost, premium, log), websocket.NewHandler(broker)
	return newServer(guarded(rules, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimSuffix(r.URL.Path, "/") == websocket.Path { // some clients add a slash
			socket.ServeHTTP(w, r)
		} else {
			entities.ServeHTTP(w, r)
		}
	})), newSockets(connections))
}

func newServer(handler http.Handler, open *sockets) *http.Server {
	s := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      rest.Patience + rest.Writing,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
	}
	open.watch(s)
	return s
}

// NewHandler returns the handler of the API and the pages, for the caller's server, which may have any name. It keeps no
// samples.
func NewHandler(broker management.Broker, users *auth.Users, log zerolog.Logger) http.Handler {
	return handlerOf(broker, rest.New(broker, users, config.Samples{}, log), site.New(site.Config{Hosts: []string{"*"}}))
}

func handlerOf(broker management.Sockets, a *rest.API, rules *site.Rules) http.Handler {
	paths := map[string]methods{}
	for _, r := range routes() {
		if paths[r.Path] == nil {
			paths[r.Path] = methods{}
		}
		paths[r.Path][r.Method] = a.Serve(r)
	}
	mux := http.NewServeMux()
	for path, handlers := range paths {
		mux.Handle(path, handlers)
	}
	mux.Handle("/api/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { rest.WriteError(w, rest.ErrNotFound) }))
	for _, path := range []string{"/api", "/api/index.html"} {
		mux.Handle(path, methods{"GET": http.HandlerFunc(welcome)})
	}
	mux.Handle(websocket.Path, methods{"GET": websocket.NewHandler(broker)})
	for path, file := range ui.Handlers() {
		mux.Handle(path, methods{"GET": file})
	}
	return guarded(rules, shim(mux))
}

// guarded admits the requests that the rules of sites admit.
func guarded(rules *site.Rules, next http.Handler) http.Handler {
	return rules.Guard(next, func(w http.ResponseWriter, why site.Refusal) {
		rest.WriteError(w, rest.Refuse(http.StatusForbidden, "forbidden", string(why)))
	})
}

// welcome answers at the path where RabbitMQ has a page about its API.
func welcome(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(`<!doctype html>
<title>Candlemark HTTP API</title>
<h1>Candlemark HTTP API</h1>
<p>The paths are those of RabbitMQ's management API, with HTTP basic authentication; they are listed in
docs/http-api.md, which comes with the broker, and described in <a href="/api/openapi.yaml">OpenAPI</a>. Begin with <a href="/api/overview">/api/overview</a>.</p>
`))
}

// shim makes ServeMux match escaped paths. ServeMux would take the segment %2F, which is the virtual host /, for a
// slash, and would redirect from empty segments and dots to another path; so it gets all these as plain text, and handlers undo one level
// of escaping in parts of the path. A slash at the end is ignored, as in RabbitMQ.
func shim(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := *r
		inner.URL = &url.URL{}
		*inner.URL = *r.URL
		path := r.URL.EscapedPath()
		if len(path) > 1 {
			path = segments(strings.TrimSuffix(path, "/"))
		}
		inner.URL.Path = path
		inner.URL.RawPath = strings.ReplaceAll(path, "%", "%25")
		next.ServeHTTP(w, &inner)
	})
}

// segments returns an escaped path with texts for the segments from which ServeMux would redirect.
func segments(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts[1:] {
		switch part {
		case "":
			parts[i+1] = rest.EmptySegment
		case ".", "..":
			parts[i+1] = strings.ReplaceAll(part, ".", "%2E")
		}
	}
	return strings.Join(parts, "/")
}

// methods are the handlers of one path.
type methods map[string]http.Handler

// ServeHTTP implements http.Handler: HEAD is a GET without the body, other
// methods that the path does not have are 405.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h := m[method]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	allow := []string{}
	for _, name := range [...]string{"GET", "PUT", "POST", "DELETE"} {
		if m[name] != nil {
			allow = append(allow, name)
		}
	}
	if m["GET"] != nil {
		allow = append([]string{"HEAD"}, allow...)
	}
	w.Header().Set("Allow", strings.Join(append(allow, "OPTIONS"), ", "))
	if method != http.MethodOptions {
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}
