package httpapi

import "slices"

// messageRoutes are about single messages. Those below /api/x are our own: other brokers do not have them.
var messageRoutes = slices.Concat(
	[]route{
		post("/api/queues/{vhost}/{name}/get", visitor, getMessages),
		post("/api/exchanges/{vhost}/{name}/publish", visitor, publish),
		get(queuePathX+"/messages", visitor, does(peek, false)),
		get(queuePathX+"/unacked", visitor, does(unacked, false)),
		post(queuePathX+"/unacked/{id}/renew", visitor, does(renew, false)),
	},
	scheduledRoutes(queuePathX, false),
	scheduledRoutes("/api/x/exchanges/{vhost}/{name}", true),
)

const queuePathX = "/api/x/queues/{vhost}/{name}"

func scheduledRoutes(path string, exchange bool) []route {
	return []route{
		get(path+"/scheduled", visitor, does(listScheduled, exchange)),
		put(path+"/scheduled", visitor, does(reschedule, exchange)),
		remove(path+"/scheduled", visitor, does(cancelScheduled, exchange)),
		get(path+"/scheduled/counts", visitor, does(countScheduled, exchange)),
		put(path+"/scheduled/{id}", visitor, does(reschedule, exchange)),
		remove(path+"/scheduled/{id}", visitor, does(cancelScheduled, exchange)),
	}
}
