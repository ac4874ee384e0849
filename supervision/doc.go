// Package supervision builds the tree of actors, restarts or ends failed actors, and starts and stops the broker in
// order.
//
// Owns: the actor system of one broker, its dispatcher, the root actor, the restart table (restart.go) and the
// listeners. It is the only package that knows all kinds of actors and introduces them to each other (ADR 1). Below
// it, and handed what they need of the tree (rooms.go): resources watches over memory, disk and sockets, queries asks
// actors for the HTTP API, localchannel runs commands on a channel of their own, and ask has the inboxes of
// goroutines that are no actors.
//
//	broker
//	├── policies                     the policy registry
//	├── vhost/%2f                    names of one virtual host
//	│   ├── exchange/…
//	│   └── queue/…
//	├── deadletter/%2f               its dead-letter exchange actor
//	├── admin/%2f                    the AMQP interface for administrators
//	├── connection/1
//	│   └── channel/…
//	└── channel/2                    of an administrator's command (localchannel)
//
// Those named %2f are there for every virtual host. They come when it is created (vhosttree.go), and end with it: its
// connections are closed, then it deletes its queues, then its other actors end.
//
// Takes: accepted, startVHost, stopVHost and closeAll, inside the package; answers and ends of what it has spawned.
//
// A start brings back what was stored (recovery.go): users, virtual hosts and policies, then exchanges, queues with
// their messages, bindings; then what is overdue expires. Only then Start returns, and listeners can be opened.
//
// States of a node: starting, serving, stopping (listeners closed, connections told CONNECTION_FORCED), stopped.
//
// Deadlines: connections have StopTimeout to leave when the broker stops, and the queues 5 s to handle what those
// left. They count the time that the broker runs (ADR 33). An actor that is restarted too often waits for up to 30 s
// (restart.go). Once a second somebody looks whether the machine has slept or was paused, and tells the queues
// (clockwatcher.go).
//
// A restart loses: everything that its actors lose; see each of them.
package supervision
