// Package wire connects the nodes of a cluster: one port for each, connections that begin with a hello.
//
// Owns: the listener, the hello, the count of connections from each peer.
//
//	dialer    hello      {versions, group, kind, cluster, members, from, to, nonce}
//	acceptor  challenge  {nonce, sum}
//	dialer    proof      {sum}
//	acceptor  answer     {error, version, cluster, node, applied}, proof {sum}
//
// The sums are HMAC-SHA-256 with the secret of the cluster, over what was exchanged before, so that each side knows that the
// other has the secret, and that nobody has changed the hello or the answer. An acceptor tells nothing to a dialer without the
// secret, and does nothing that it asks for. The bytes after the answer are neither encrypted nor signed, unless the nodes have certificates: then
// all of it, the hello, too, is within TLS, and the secret may be empty.
//
// States: a connection is in its hello, then it belongs to who asked for it; a question (KindAsk) ends with its answer.
//
// Deadlines: a hello has Patience. At most maxHellos are under way.
//
// A restart loses: connections.
package wire
