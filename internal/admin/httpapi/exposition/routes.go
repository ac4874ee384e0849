package exposition

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// Routes are for monitoring systems with a login.
var Routes = []rest.Route{
	rest.Get(wholePath, rest.Monitor, scrape(whole)).Large(),
	rest.Get(objectsPath, rest.Monitor, scrape(eachObject)).Large(),
	rest.Get(chosenPath, rest.Monitor, scrape(chosen)).Large(),
}

// The paths, as in RabbitMQ.
const (
	wholePath   = "/metrics"
	objectsPath = "/metrics/per-object"
	chosenPath  = "/metrics/detailed"
)

// question asks the broker for the contents of a page.
type question func(ctx context.Context, b management.Broker, r *http.Request) (page, error)

func scrape(ask question) rest.Handler {
	return func(r *rest.Request) (any, error) {
		p, err := ask(r.Context(), r.Broker, r.Request)
		if err != nil {
			return nil, err
		}
		return p.rendered(r.W.Header(), r.Request), nil
	}
}

// The maximum numbers of concurrent scrapes of a port without login: of the broker as a whole, and of objects, which
// may be many.
const (
	wholeAtATime   = 4
	objectsAtATime = 1
)

// NewHandler answers scrapes without authentication. With perObject it has the metrics of each object at /metrics, too.
func NewHandler(b management.Broker, perObject bool) http.Handler {
	objects := make(chan struct{}, objectsAtATime)
	mux := http.NewServeMux()
	if perObject {
		mux.Handle("GET "+wholePath, anybodys(b, eachObject, objects))
	} else {
		mux.Handle("GET "+wholePath, anybodys(b, whole, make(chan struct{}, wholeAtATime)))
	}
	mux.Handle("GET "+objectsPath, anybodys(b, eachObject, objects))
	mux.Handle("GET "+chosenPath, anybodys(b, chosen, objects))
	return mux
}

// anybodys answers scrapes while there is room. A client that reads slowly takes none.
func anybodys(b management.Broker, ask question, room chan struct{}) http.Handler {
	collect := func(w http.ResponseWriter, r *http.Request) (body *rest.Packed, err error) {
		ctx, cancel := b.WithTimeout(r.Context(), rest.Patience)
		defer cancel()
		p, err := ask(ctx, b, r)
		if err != nil {
			return nil, err
		}
		return p.rendered(w.Header(), r), nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := rest.NewOutput(w, b.Unread(), "")
		defer out.Close()
		select {
		case room <- struct{}{}:
		default:
			tooMany(w)
			return
		}
		leave := sync.OnceFunc(func() { <-room })
		defer leave()
		if !out.Admits() {
			tooMany(w)
			return
		}
		body, err := collect(w, r)
		if err != nil {
			http.Error(w, "the broker did not answer", http.StatusServiceUnavailable)
			return
		}
		out.WritePacked(body, leave)
	})
}

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many scrapes at a time", http.StatusServiceUnavailable)
}

// whole is about the broker as a whole.
func whole(ctx context.Context, b management.Broker, _ *http.Request) (page, error) {
	m, err := b.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	ahead, err := b.Due(ctx)
	oldest := b.OldestReadyAge()
	return func(w *writer) {
		identity(w, &m, "aggregated")
		node(w, &m)
		totals(w, &m)
		protocols(w, &m)
		own(w, &m)
		nodes(w, b.ClusterState())
		testClock(w, b.Clock())
		ages(w, &m, oldest)
		due(w, ahead)
		process(w)
	}, err
}

// eachObject has the families of all objects and, as whole has, of the node.
func eachObject(ctx context.Context, b management.Broker, _ *http.Request) (page, error) {
	m, err := b.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	oldest := b.OldestReadyAge()
	objects, err := find(ctx, b, func(string) bool { return true }, false, nil)
	return func(w *writer) {
		identity(w, &m, "per-object")
		node(w, &m)
		objects(w, "rabbitmq_")
		counted(w, &m)
		protocols(w, &m)
		own(w, &m)
		nodes(w, b.ClusterState())
		testClock(w, b.Clock())
		ages(w, &m, oldest)
		process(w)
	}, err
}

// chosen has the families named in the query, for the virtual hosts named there; by default no families, and all
// virtual hosts.
func chosen(ctx context.Context, b management.Broker, r *http.Request) (page, error) {
	m, err := b.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	objects, err := find(ctx, b, func(name string) bool { return slices.Contains(query["family"], name) }, true, query["vhost"])
	return func(w *writer) {
		objects(w, "rabbitmq_detailed_")
		identity(w, &m, "detailed")
	}, err
}
