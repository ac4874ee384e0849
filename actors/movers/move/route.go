package move

import (
	"slices"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/routefinder"
	"candlemark/internal/routing/topology"
)

// maxKnown is the maximum number of cached permissions, by exchange and key.
const maxKnown = 1000

// router finds the targets of messages.
type router struct {
	routefinder.Finder
	job *Job
	may map[[2]string]error
}

// plan converts a message for publishing, and finds its targets and the limits of its TTL for them. If there is no
// target, it sets the item's reason.
func (r *router) plan(i *item) (queues []*topology.Queue, caps []int64) {
	if i.Unreadable {
		i.reason = Unreadable
		return nil, nil
	}
	m := &i.Message
	exchange, key, ok := r.address(m)
	if !ok {
		i.reason = NoOrigin
		return nil, nil
	}
	x := r.job.VHost.Directory().Exchange([]byte(exchange))
	switch {
	case r.denied(exchange, key):
		i.reason = Denied
		return nil, nil
	case x == nil:
		i.reason = Unroutable
		return nil, nil
	}
	m.Overlay = alone(m.Overlay)
	queues = r.Find(r.job.VHost.Directory(), x, routefinder.Content{Header: m.Header, Overlay: m.Overlay}, []byte(key), nil)
	switch {
	case r.Over():
		i.reason = TooLong
		return nil, nil
	case len(queues) == 0:
		i.reason = Unroutable
		return nil, nil
	}
	queues = slices.Concat(queues, r.Histories())
	if r.job.To.Origin {
		r.restore(m)
	} else {
		m.Exchange, m.RoutingKey = []byte(exchange), []byte(key)
	}
	if caps = r.Caps(); len(caps) != len(queues) {
		caps = nil
	}
	return queues, caps
}

// address returns where to publish a message; ok is false if this is unknown.
func (r *router) address(m *message.Message) (exchange, key string, ok bool) {
	switch to := &r.job.To; {
	case to.Origin:
		if !m.Overlay.Dead() { // x-death set by a client is ignored
			return "", "", false
		}
		return "", m.Overlay.Deaths[0].Queue, true
	case to.Queue != "":
		return "", to.Queue, true
	case to.HasKey:
		return to.Exchange, to.Key, true
	default:
		return to.Exchange, string(m.RoutingKey), true
	}
}

// restore sets the exchange and key with which a message was first published to the queue that dead-lettered it.
func (r *router) restore(m *message.Message) {
	d := &m.Overlay.Deaths[0]
	m.Exchange = []byte(d.Exchange)
	if len(d.RoutingKeys) > 0 {
		m.RoutingKey = []byte(d.RoutingKeys[0])
	}
}

// denied reports whether the user may not publish to an exchange with a key.
func (r *router) denied(exchange, key string) bool {
	at := [2]string{exchange, key}
	err, known := r.may[at]
	if !known {
		if len(r.may) >= maxKnown {
			clear(r.may)
		}
		err = r.job.May(exchange, key)
		r.may[at] = err
	}
	return err != nil
}
