// Package topology holds the data that a publish reads to find its queues: the directory of names of a virtual host
// and the routing table of each exchange, both immutable, and the Router that walks them.
//
// # What it owns
//
//   - VHost: the handle of one virtual host. It carries the current Directory behind an atomic pointer, and a
//     generation that grows with every published change, so that callers that cache a route know when it is stale.
//   - Directory: names to queues and exchanges. The vhost actor is its only writer.
//   - Routes: the bindings of one exchange and the matcher of its type. The exchange actor is its only writer, which
//     publishes a new table with Exchange.Publish.
//   - Router: resolves one publish to distinct queues. Each channel and each dead-letter actor has its own. Its cost is
//     bounded and counted in steps; a Long finds a route that takes more steps than an actor's turn allows.
//
// Nothing here is altered after it was published: every change makes a new snapshot that shares all but O(log n) of the
// old one, and a reader may keep its snapshot as long as it likes. Names map to pointers and bindings keep those
// pointers, so a route never reaches a later queue of the same name.
//
// # Matchers
//
//	direct    tree: binding key -> destinations
//	fanout    destinations
//	topic     trie of words, '*' and '#' beside them, up to the last '#'; the words after it in a trie of their own,
//	          backwards. A key is matched with a set of nodes per word
//	headers   any: tree of conditions; all: for each combination of headers, a tree by their values
//	rules     correlation filters as headers, SQL filters one after the other
//
// What comparing costs is known for each table (Routes.CheckLoad): bindings that would make it too expensive are refused, so
// that they make no publish fail (DEC-19).
//
// Destinations of one entry are counted, because several bindings with different arguments may lead from one entry to
// the same queue; the queue gets a message once.
//
// # What a restart loses
//
// Everything: snapshots are made from the definitions when the vhost opens.
package topology
