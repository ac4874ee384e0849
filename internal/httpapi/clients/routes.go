package clients

import "candlemark/internal/httpapi/rest"

// Routes are about connections and what they have.
var Routes = []rest.Route{
	rest.Get("/api/connections", rest.Anybody, connections),
	rest.Get("/api/vhosts/{vhost}/connections", rest.In(rest.Visitor), connections),
	rest.Get("/api/connections/{name}", rest.Anybody, connection),
	rest.Delete("/api/connections/{name}", rest.Anybody, closeConnection),
	rest.Delete("/api/connections/{name}/{part}", rest.Anybody, byUser(closeUserConnections)),
	rest.Get("/api/connections/{name}/{part}", rest.Anybody, connectionPart),
	rest.Get("/api/x/links", rest.Anybody, links),
	rest.Get("/api/channels", rest.Anybody, channels),
	rest.Get("/api/vhosts/{vhost}/channels", rest.In(rest.Visitor), channels),
	rest.Get("/api/channels/{name}", rest.Anybody, channel),
	rest.Get("/api/consumers", rest.Anybody, consumers),
	rest.Get("/api/consumers/{vhost}", rest.In(rest.Visitor), consumers),
}
