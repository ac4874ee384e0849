package httpapi

// Paths of one object.
const (
	queuePath    = "/api/queues/{vhost}/{name}"
	exchangePath = "/api/exchanges/{vhost}/{name}"
	betweenPath  = "/api/bindings/{vhost}/e/{name}/{kind}/{destination}"
)

// topologyRoutes are about queues, exchanges and bindings.
var topologyRoutes = []route{
	get("/api/queues", anybody, queues),
	get("/api/queues/detailed", anybody, queues),
	get("/api/queues/{vhost}", in(visitor), queues),
	get(queuePath, visitor, queue),
	put(queuePath, into(visitor), putQueue),
	remove(queuePath, visitor, deleteQueue),
	get(queuePath+"/bindings", visitor, queueBindings),
	remove(queuePath+"/contents", visitor, purgeQueue),

	get("/api/exchanges", anybody, exchanges),
	get("/api/exchanges/{vhost}", in(visitor), exchanges),
	get(exchangePath, visitor, exchange),
	put(exchangePath, into(visitor), putExchange),
	remove(exchangePath, visitor, deleteExchange),
	get(exchangePath+"/bindings/source", visitor, bindingsFrom),
	get(exchangePath+"/bindings/destination", visitor, bindingsTo),

	get("/api/bindings", anybody, bindings),
	get("/api/bindings/{vhost}", in(visitor), bindings),
	get(betweenPath, in(visitor), bindingsBetween),
	post(betweenPath, visitor, bind),
	get(betweenPath+"/{properties}", visitor, binding),
	remove(betweenPath+"/{properties}", visitor, unbind),
}
