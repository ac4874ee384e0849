package clients

import "candlemark/internal/admin/httpapi/rest"

// Routes are about connections and what they have.
var Routes = []rest.Route{
	rest.Get("/api/connections", rest.Anybody, connections).Large(),
	rest.Get("/api/vhosts/{vhost}/connections", rest.InVHost(rest.Visitor), connections).Large(),
	rest.Get("/api/connections/{name}", rest.Anybody, connection).Large(),
	rest.Delete("/api/connections/{name}", rest.Anybody, closeConnection),
	rest.Delete("/api/connections/{name}/{part}", rest.Anybody, byUser(closeUserConnections)),
	rest.Get("/api/connections/{name}/{part}", rest.Anybody, connectionPart).Large(),
	rest.Get("/api/x/links", rest.Anybody, links).Large(),
	rest.Get("/api/channels", rest.Anybody, channels).Large(),
	rest.Get("/api/vhosts/{vhost}/channels", rest.InVHost(rest.Visitor), channels).Large(),
	rest.Get("/api/channels/{name}", rest.Anybody, channel).Large(),
	rest.Get("/api/consumers", rest.Anybody, consumers).Large(),
	rest.Get("/api/consumers/{vhost}", rest.InVHost(rest.Visitor), consumers).Large(),
}
