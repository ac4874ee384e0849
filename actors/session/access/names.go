package access

import (
	"net/url"
	"strings"

	"candlemark/internal/dialect/servicebus"
	"candlemark/internal/topology"
)

// maxCompared is how many queues and exchanges a virtual host has at most if names are found without regard to case: each of them is looked at.
// A namespace of Service Bus has 10,000 entities at most.
const maxCompared = 20_000

// Entity is the address of an entity as the broker writes it: with the names that its queue or exchange has, which clients may write in other
// cases. The client for .NET puts a slash before the address; that is an entity's if the client has put a token for it, and else one of RabbitMQ's.
// Other addresses are returned as they are (SBE-5, SBE-6).
func (a *Access) Entity(address string) string {
	if rest, slash := strings.CutPrefix(address, "/"); slash {
		if a.Tokens == nil || a.Tokens.At(address) == nil {
			return address
		}
		plain, err := url.PathUnescape(rest)
		if err != nil {
			return address
		}
		named, there := namedIn(a.Login.VHost, plain)
		if !there && servicebus.IsRabbitMQs(address) {
			return address
		}
		return named
	}
	if servicebus.Is(address) {
		address, _ = namedIn(a.Login.VHost, address)
	}
	return address
}

// namedIn is an address with the names of the queue or exchange that it leads to; false: there is none.
func namedIn(v *topology.VHost, address string) (string, bool) {
	queue, topic := servicebus.ParseAudience(address)
	d := v.Directory()
	if topic == "" || strings.HasPrefix(address, "$") || d.Queue([]byte(queue)) != nil || d.Exchange([]byte(topic)) != nil && queue == topic {
		return address, true
	}
	if d.QueueCount()+d.ExchangeCount() > maxCompared {
		return address, false
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
