// Package httpapi is the HTTP API of the broker, shaped like RabbitMQ's management API, so that its clients and tools
// work unchanged.
//
// Owns: the server with its limits, and the table of all paths, which is made of the tables of the sections. A
// section is a package below with a variable Routes:
//
//	definitions  users, permissions, virtual hosts, policies, parameters, limits
//	effects      what policies do
//	topology     queues, exchanges, bindings
//	clients      connections, channels, consumers
//	messages     get, publish, and extensions: peeking, scheduled messages
//	node         the broker as a whole, its machine and its health
//	exposition   the same for monitoring systems, outside of /api
//	transfer     export and import of all definitions
//	shovels      shovels
//	servicebus   the administration API of Azure Service Bus, on a port of its own
//	ui           the web pages: files at / and /ui, which use the API like other clients
//
// They are written with rest (requests, rules, errors, lists; ADR 39) and forms (JSON forms shared by several sections)
// over internal/admin/management, the broker. To add a section: a package, its Routes, its name in routes.go. openapi.yaml
// describes every path. Package client speaks the same API from the other side.
//
// Takes no mail and sends none: the implementation of management.Broker does.
//
// States: none; requests are independent, except for rates, which are changes since an earlier sample, samples
// (forms.Rates, ADR 51), and sessions of users who have logged in with a form (session).
//
// Deadlines: a request is read within 10 s and answered within 30 s (all definitions: 10 min), of running time (ADR
// 33); its answer is written within 30 s more; an idle connection is closed after 2 min (see NewServer).
//
// A restart loses: running requests, samples, sessions.
package httpapi
