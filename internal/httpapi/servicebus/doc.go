// Package servicebus is the administration API of Azure Service Bus over HTTP, on a listener of its own, as its emulator has it: entities at
// their paths in Atom XML (internal/servicebus/atom), for those who come with a token that is signed with an access key with the right to
// manage, and /health for everybody.
//
// Owns: nothing; internal/servicebus/admin does what is asked for. Deadlines: those of the HTTP API. Bounds: the bodies of requests
// (atom.MaxBody), 100 entities in a feed; connections are the server's affair.
package servicebus
