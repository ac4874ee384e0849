// Package forward accepts clients on a node of a cluster, whoever leads (CLU-20).
//
// Owns: the listeners of the node for clients, the connections that wait for a leader, and those that are passed on.
//
// A listener lasts as long as the process. While this node leads, its broker takes the connections from Front.Listener. While another one
// leads, each connection gets one to the leader, which carries its bytes; connections of a local kind go to the servers of Front.Local
// instead. While nobody leads, connections wait.
//
// Mail: none.
//
// States of a connection:
//
//	accepted ──▶ waiting ──leader──▶ passed on ──another leader or term──▶ closed
//	                └──this node leads──▶ the broker's
//
// Deadlines: a connection waits for Config.Wait; the end of a client has lastWords after the leader has closed.
//
// A restart loses: all connections.
package forward
