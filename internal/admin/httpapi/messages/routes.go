package messages

import (
	"slices"

	"candlemark/internal/admin/httpapi/rest"
)

// Routes are about single messages. Other brokers do not have the routes below /api/x.
var Routes = slices.Concat(
	[]rest.Route{
		rest.Post("/api/queues/{vhost}/{name}/get", rest.Visitor, fetch),
		rest.Post("/api/exchanges/{vhost}/{name}/publish", rest.Visitor, publish),
		rest.Get(queuePath+"/messages", rest.Visitor, does(peek, false)).Large(),
		rest.Get("/api/x/expirations/{vhost}/{name}", rest.Visitor, does(expirations, false)).Large(),
		rest.Get(queuePath+"/unacked", rest.Visitor, does(unacked, false)).Large(),
		rest.Post(queuePath+"/unacked/{id}/renew", rest.Visitor, does(renew, false)),
		rest.Post(queuePath+"/unacked/{id}/return", rest.Visitor, does(giveBack, false)),
		rest.Put(queuePath+"/pause", rest.Visitor, does(pauseQueue, false)),
		rest.Put(queuePath+"/resume", rest.Visitor, does(resumeQueue, false)),
		rest.Post(queuePath+"/move", rest.Visitor, move),
		rest.Get("/api/x/moves", rest.Anybody, moves).Large(),
		rest.Get("/api/x/moves/{id}", rest.Anybody, oneMove),
		rest.Delete("/api/x/moves/{id}", rest.Anybody, stopMove),
	},
	scheduledRoutes(queuePath, false),
	scheduledRoutes("/api/x/exchanges/{vhost}/{name}", true),
)

const queuePath = "/api/x/queues/{vhost}/{name}"

func scheduledRoutes(path string, exchange bool) []rest.Route {
	return []rest.Route{
		rest.Get(path+"/scheduled", rest.Visitor, does(listScheduled, exchange)).Large(),
		rest.Put(path+"/scheduled", rest.Visitor, does(reschedule, exchange)),
		rest.Delete(path+"/scheduled", rest.Visitor, does(cancelScheduled, exchange)),
		rest.Get(path+"/scheduled/counts", rest.Visitor, does(countScheduled, exchange)),
		rest.Put(path+"/scheduled/{id}", rest.Visitor, does(reschedule, exchange)),
		rest.Delete(path+"/scheduled/{id}", rest.Visitor, does(cancelScheduled, exchange)),
	}
}
