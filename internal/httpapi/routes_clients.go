package httpapi

// clientRoutes are about connections and what they have.
var clientRoutes = []route{
	get("/api/connections", anybody, connections),
	get("/api/vhosts/{vhost}/connections", in(visitor), connections),
	get("/api/connections/{name}", anybody, connection),
	remove("/api/connections/{name}", anybody, closeConnection),
	get("/api/connections/{name}/channels", anybody, connectionChannels),
	get("/api/channels", anybody, channels),
	get("/api/vhosts/{vhost}/channels", in(visitor), channels),
	get("/api/channels/{name}", anybody, channel),
	get("/api/consumers", anybody, consumers),
	get("/api/consumers/{vhost}", in(visitor), consumers),
}
