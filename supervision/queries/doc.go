// Package queries answers the HTTP API, and the equivalent AMQP commands, by asking the actors: it lists and describes
// queues, exchanges, bindings, connections, channels and consumers, shows and changes messages in place (peek, locks,
// scheduled messages), and passes policies to the registry. Package supervision makes changes of the tree, such as a
// new virtual host; supervision/localchannel does what a client can do on a channel.
//
// Owns: the counters of connections, channels, queues and dead letters, which the actors write. It asks for everything
// else: it keeps no copy of the state of actors, and holds no lock while it asks. A query renews no lease (LEASE-4).
//
// A preview of policies reads all queues of a virtual host, so only one runs at a time.
//
// Deadlines: an actor asked together with others has ask.Patience, 5 s, and is left out or shown as down after that; an
// actor asked alone has as long as the request lasts.
package queries
