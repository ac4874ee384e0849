package topology

import "candlemark/internal/admin/httpapi/rest"

// Paths of one object.
const (
	queuePath    = "/api/queues/{vhost}/{name}"
	exchangePath = "/api/exchanges/{vhost}/{name}"
	betweenPath  = "/api/bindings/{vhost}/e/{name}/{kind}/{destination}"
)

// Routes are about queues, exchanges and bindings.
var Routes = []rest.Route{
	rest.Get("/api/queues", rest.Anybody, queues).Large(),
	rest.Get("/api/queues/detailed", rest.Anybody, queues).Large(),
	rest.Get("/api/queues/{vhost}", rest.InVHost(rest.Visitor), queues).Large(),
	rest.Get(queuePath, rest.Visitor, queue),
	rest.Put(queuePath, rest.ChangesVHost(rest.Visitor), putQueue),
	rest.Delete(queuePath, rest.Visitor, deleteQueue),
	rest.Get(queuePath+"/bindings", rest.Visitor, queueBindings).Large(),
	rest.Delete(queuePath+"/contents", rest.Visitor, purgeQueue),
	rest.Post(queuePath+"/actions", rest.Administrator, queueAction),

	rest.Get("/api/x/vhosts", rest.Anybody, vhosts),
	rest.Get("/api/x/expirations", rest.Anybody, expirations).Large(),
	rest.Get("/api/x/expirations/{vhost}", rest.InVHost(rest.Visitor), expirations).Large(),
	rest.Get("/api/x/ahead", rest.Anybody, ahead), // the broker has turns for it
	rest.Get("/api/x/ahead/{vhost}", rest.InVHost(rest.Visitor), ahead),
	rest.Get("/api/x/flow/{vhost}", rest.InVHost(rest.Visitor), flow),
	rest.Get("/api/x/leases", rest.Anybody, leases).Large(),
	rest.Get("/api/x/leases/{vhost}", rest.InVHost(rest.Visitor), leases).Large(),

	rest.Get("/api/exchanges", rest.Anybody, exchanges).Large(),
	rest.Get("/api/exchanges/{vhost}", rest.InVHost(rest.Visitor), exchanges).Large(),
	rest.Get(exchangePath, rest.Visitor, exchange),
	rest.Put(exchangePath, rest.ChangesVHost(rest.Visitor), putExchange),
	rest.Delete(exchangePath, rest.Visitor, deleteExchange),
	rest.Get(exchangePath+"/bindings/source", rest.Visitor, bindingsFrom).Large(),
	rest.Get(exchangePath+"/bindings/destination", rest.Visitor, bindingsTo).Large(),

	rest.Get("/api/bindings", rest.Anybody, bindings).Large(),
	rest.Get("/api/bindings/{vhost}", rest.InVHost(rest.Visitor), bindings).Large(),
	rest.Get(betweenPath, rest.InVHost(rest.Visitor), bindingsBetween).Large(),
	rest.Post(betweenPath, rest.Visitor, bind),
	rest.Get(betweenPath+"/{properties}", rest.Visitor, binding).Large(),
	rest.Delete(betweenPath+"/{properties}", rest.Visitor, unbind).Large(),
}
