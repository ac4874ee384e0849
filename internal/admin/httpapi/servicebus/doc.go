// Package servicebus is the administration API of Azure Service Bus over HTTP, on a listener of its own, as its
// emulator has it: entities at their paths in Atom XML (internal/admin/atom), for clients with a token signed
// with an access key that may manage, and /health for all.
//
// Owns: nothing; internal/admin/entityadmin carries out the requests. Deadlines: as in the HTTP API. Bounds: the bodies
// of requests (atom.MaxBody), 100 entities in a feed; the server limits connections.
package servicebus
