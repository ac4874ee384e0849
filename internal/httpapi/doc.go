// Package httpapi is the HTTP API of the broker, shaped like RabbitMQ's
// management API, so that its clients and tools work unchanged.
//
// Owns: the paths, status codes and JSON forms of the API; who may ask for what;
// the limits on requests. The broker behind it is the interface Broker; package
// client speaks the same API from the other side.
//
// routes.go is the list of all paths. What handles one returns a value or an error:
// answer.go and errors.go make statuses and bodies of them (ADR 39).
//
// Takes no mail and sends none: whoever implements Broker does.
//
// States: none; every request stands alone, but for the rates, which are the
// change since an earlier look (see rates).
//
// Deadlines: a request is read within 10 s and answered within 30 s, of the time
// that the broker runs (ADR 33); its answer is written within 30 s more; an idle
// connection is closed after 2 min (see Server).
//
// A restart loses: requests under way, and what rates are made of.
package httpapi
