// Package management says what administrators can ask of the broker: the interface Broker, whose parts are about
// queues, clients, messages and so on, and the values that they take and return. The HTTP API (internal/httpapi) and
// the commands over AMQP are written against it; supervision.Node implements it.
//
// Takes no mail and sends none, holds nothing and has no deadlines.
package management
