package httpapi

import (
	"net/http"

	"candlemark/internal/auth"
)

func (a *api) queuePaths(mux *http.ServeMux) {
	for _, path := range []string{"/api/queues", "/api/queues/detailed"} {
		mux.Handle(path, methods{"GET": a.guard(anybody, a.queues)})
	}
	mux.Handle("/api/queues/{vhost}", methods{"GET": a.guard(visitor, a.queues)})
	queue := "/api/queues/{vhost}/{name}"
	mux.Handle(queue, methods{
		"GET":    a.guard(visitor, a.queue),
		"PUT":    a.guard(visitor, a.putQueue),
		"DELETE": a.guard(visitor, a.deleteQueue),
	})
	mux.Handle(queue+"/bindings", methods{"GET": a.guard(visitor, a.queueBindings)})
	mux.Handle(queue+"/contents", methods{"DELETE": a.guard(visitor, a.purgeQueue)})
	mux.Handle(queue+"/get", methods{"POST": a.guard(visitor, a.getMessages)})
}

func (a *api) topologyPaths(mux *http.ServeMux) {
	mux.Handle("/api/exchanges", methods{"GET": a.guard(anybody, a.exchanges)})
	mux.Handle("/api/exchanges/{vhost}", methods{"GET": a.guard(visitor, a.exchanges)})
	exchange := "/api/exchanges/{vhost}/{name}"
	mux.Handle(exchange, methods{
		"GET":    a.guard(visitor, a.exchange),
		"PUT":    a.guard(visitor, a.putExchange),
		"DELETE": a.guard(visitor, a.deleteExchange),
	})
	mux.Handle(exchange+"/bindings/source", methods{"GET": a.guard(visitor, a.exchangeBindings(true))})
	mux.Handle(exchange+"/bindings/destination", methods{"GET": a.guard(visitor, a.exchangeBindings(false))})
	mux.Handle(exchange+"/publish", methods{"POST": a.guard(visitor, a.publish)})

	mux.Handle("/api/bindings", methods{"GET": a.guard(anybody, a.bindings)})
	mux.Handle("/api/bindings/{vhost}", methods{"GET": a.guard(visitor, a.bindings)})
	between := "/api/bindings/{vhost}/e/{name}/{kind}/{destination}"
	mux.Handle(between, methods{"GET": a.guard(visitor, a.bindingsBetween), "POST": a.guard(visitor, a.bind)})
	mux.Handle(between+"/{properties}", methods{"GET": a.guard(visitor, a.binding), "DELETE": a.guard(visitor, a.unbind)})
}

func (a *api) clientPaths(mux *http.ServeMux) {
	mux.Handle("/api/connections", methods{"GET": a.guard(anybody, a.connections)})
	mux.Handle("/api/vhosts/{vhost}/connections", methods{"GET": a.guard(visitor, a.connections)})
	mux.Handle("/api/connections/{name}", methods{
		"GET":    a.guard(anybody, a.connection),
		"DELETE": a.guard(anybody, a.closeConnection),
	})
	mux.Handle("/api/connections/{name}/channels", methods{"GET": a.guard(anybody, a.connectionChannels)})
	mux.Handle("/api/channels", methods{"GET": a.guard(anybody, a.channels)})
	mux.Handle("/api/vhosts/{vhost}/channels", methods{"GET": a.guard(visitor, a.channels)})
	mux.Handle("/api/channels/{name}", methods{"GET": a.guard(anybody, a.channel)})
	mux.Handle("/api/consumers", methods{"GET": a.guard(anybody, a.consumers)})
	mux.Handle("/api/consumers/{vhost}", methods{"GET": a.guard(visitor, a.consumers)})
}

func (a *api) nodePaths(mux *http.ServeMux) {
	get := func(path string, allowed rule, handle func(*request)) {
		mux.Handle(path, methods{"GET": a.guard(allowed, handle)})
	}
	get("/api/nodes", monitor, a.nodes)
	get("/api/nodes/{name}", monitor, a.oneNode)
	mux.Handle("/api/cluster-name", methods{
		"GET": a.guard(anybody, a.clusterName),
		"PUT": a.guard(changer(auth.GlobalParameters), a.putClusterName),
	})
	get("/api/version", anybody, a.versionOnly)
	get("/api/extensions", anybody, a.extensions)
	get("/api/feature-flags", anybody, a.featureFlags)
	get("/api/deprecated-features", anybody, a.deprecatedFeatures)
	get("/api/deprecated-features/used", anybody, a.deprecatedInUse)
	get("/api/aliveness-test/{vhost}", visitor, a.alive)
	checks := "/api/health/checks"
	get(checks+"/virtual-hosts", anybody, healthy)
	get(checks+"/port-listener/{port}", anybody, a.portListens)
	get(checks+"/protocol-listener/{protocol}", anybody, a.protocolListens)
	get(checks+"/certificate-expiration/{within}/{unit}", anybody, a.certificatesLast)
	get(checks+"/node-is-quorum-critical", anybody, a.notCritical)
}
