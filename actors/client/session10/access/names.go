package access

import (
	"net/url"
	"strings"

	"candlemark/internal/servicebus/dialect/servicebus"
)

// maxCompared is the number of queues and exchanges of a virtual host up to which names are found regardless of case,
// as all of them are compared. A namespace of Service Bus has at most 10,000 entities.
const maxCompared = 20_000

// Entity returns the canonical address of an entity, with the names of its queue or exchange, which clients may write
// in a different case. The client for .NET puts a slash before the address; it is an entity's address if the client has
// put a token for it, otherwise one of RabbitMQ's dialect. Other addresses are returned unchanged (SBE-5, SBE-6).
func (a *Access) Entity(address string) string {
	if rest, slash := strings.CutPrefix(address, "/"); slash {
		if a.Tokens == nil || a.Tokens.At(address) == nil {
			return address
		}
		plain, err := url.PathUnescape(rest)
		if err != nil {
			return address
		}
		named, there := a.named(plain)
		if !there && servicebus.IsRabbitMQs(address) {
			return address
		}
		return named
	}
	if servicebus.Is(address) {
		address, _ = a.named(address)
	}
	return address
}

// named returns an address with the canonical names of its queue or exchange; false if there is neither.
func (a *Access) named(address string) (string, bool) {
	queue, topic := servicebus.ParseAudience(address)
	d := a.Login.VHost.Directory()
	if topic == "" || strings.HasPrefix(address, "$") || d.Queue([]byte(queue)) != nil || d.Exchange([]byte(topic)) != nil && queue == topic {
		return address, true
	}
	if d.QueueCount()+d.ExchangeCount() > maxCompared {
		return address, false
	}
	if a.Count != nil {
		a.Count(d.QueueCount() + d.ExchangeCount())
	}
	for q := range d.Queues() {
		if strings.EqualFold(q.Name, queue) {
			return servicebus.Renamed(address, q.Name), true
		}
	}
	if queue == topic {
		for x := range d.Exchanges() {
			if strings.EqualFold(x.Name, topic) {
				return servicebus.Renamed(address, x.Name), true
			}
		}
	}
	return address, false
}
