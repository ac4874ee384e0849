// Package supervision builds the tree of actors, restarts or ends failed actors, and starts and stops the broker in
// order.
//
// Owns: the actor system of one broker, its dispatcher, the root actor, the restart table (restart.go) and the
// listeners. It is the only package that knows all kinds of actors and passes addresses between them (ADR 1). Packages
// below it get what they need from the tree (wiring.go): resources watches memory, disk and sockets, queries asks actors
// for the HTTP API, localchannel runs commands on a channel of their own, and ask provides inboxes for non-actor
// goroutines.
//
//	broker
//	├── policies                     the policy registry
//	├── vhost/%2f                    names of one virtual host
//	│   ├── exchange/…
//	│   └── queue/…
//	├── deadletter/%2f               its dead-letter exchange actor
//	├── admin/%2f                    the AMQP interface for administrators
//	├── move/1                       a command that moves messages
//	├── shovel/1                     moves messages continuously
//	├── connection/1
//	│   └── channel/…
//	└── channel/2                    of an administrator's command (localchannel)
//
// Actors named %2f exist for every virtual host. They are created with it (vhosttree.go), and end with it: its
// connections are closed, then it deletes its queues, then its other actors end.
//
// Takes: accepted, startVHost, stopVHost and closeAll, inside the package; answers from, and the ends of, actors that
// it spawned.
//
// A start restores what was stored (recovery.go): users, virtual hosts and policies, then exchanges, queues with their
// messages, bindings; then overdue messages expire. Only then does Start return, and listeners can be opened.
//
// States of a node: starting, serving, stopping (listeners closed, connections told CONNECTION_FORCED), stopped.
//
// Deadlines: connections have StopTimeout to leave when the broker stops, and the queues 5 s to handle mail from them.
// Both are measured while the broker runs (ADR 33). An actor that is restarted too often waits for up to 30 s
// (restart.go). Once a second clockwatcher.go checks whether the machine was suspended or paused, and informs the
// queues.
//
// A restart loses: everything that its actors lose; see their packages.
package supervision
