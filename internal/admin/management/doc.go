// Package management defines the operations of administrators on the broker: the interface Broker, with parts for
// queues, clients, messages and so on, and the types of their parameters and results. The HTTP API (internal/admin/httpapi)
// and the commands over AMQP are written against it; supervision.Node.API returns the implementation.
//
// Takes no mail and sends none, holds nothing and has no deadlines.
package management
