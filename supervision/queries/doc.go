// Package queries answers the HTTP API, and the commands over AMQP that are its twins, by
// asking the actors: it lists and describes queues, exchanges, bindings, connections,
// channels and consumers, shows and changes messages in place (peek, locks, scheduled
// messages), and has the registry keep policies. What changes the tree, such as a new
// virtual host, is for package supervision; what a client's channel could do, for
// supervision/localchannel.
//
// Owns: the counters of what came and went, and of dead letters, which the actors write.
// Everything else it is told: it keeps no copy of what actors own, and holds no lock while
// it asks. A query renews no lease (LEASE-4).
//
// A preview of policies looks at all queues of a virtual host, so there is one at a time.
//
// Deadlines: who is asked along with others has ask.Patience, 5 s, and is left out or
// shown as down after that; one asked alone, as long as the request lasts.
package queries
