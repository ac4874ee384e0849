package node

import (
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/measure/events"
)

// Users without the tag monitoring get events about the objects in their own virtual hosts, but not about other users'
// connections.
func TestMayKnow(t *testing.T) {
	users := auth.NewGuest()
	r := &rest.Request{Users: users, User: auth.User{Name: "guest"}}
	stranger := &rest.Request{Users: users, User: auth.User{Name: "stranger"}}
	for name, open := range map[string]bool{
		"queue.created": true, "exchange.deleted": true, "binding.created": true, "policy.set": true, "schedule.paused": true,
		"connection.created": false, "user.created": false, "permission.created": false, "vhost.created": false, "alarm.set": false, "queues": false,
	} {
		e := &events.Event{Name: name, VHost: "/"}
		if mayKnow(r, e) != open || mayKnow(stranger, e) || mayKnow(r, &events.Event{Name: name}) {
			t.Errorf("%s: %v, %v for a stranger, %v without a virtual host", name, mayKnow(r, e), mayKnow(stranger, e), mayKnow(r, &events.Event{Name: name}))
		}
	}
}
