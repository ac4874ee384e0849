// Package connection owns one client connection: the socket, the handshake, the
// channel numbers, the heartbeats, and every way in which a connection ends.
//
// Owns: one socket and two goroutines beside the actor. The reader does the
// handshake as sequential code, then reads as much as the socket has, splits it
// into frames and sends one mail.Inbound per channel and read straight to the
// channel. Where the socket is one of many that a loop waits for (internal/socket), its
// goroutine ends with the handshake and comes back for what has to be waited for: methods of
// channel 0, channel.open, credit, an alarm, the farewell. A writer lives only while there is something that the socket did not
// take at once (internal/outbox). The actor owns everything that is rare, and
// never blocks.
//
// Mail: it takes ChannelClosed, CloseConnection, ConnectionReleased, Block,
// Unblock, DescribeConnection and PeerGone. It sends Inbound and CloseChannel to its
// channels, ReleaseConnection to its vhost, ConnectionInfo to who asked. For
// channel.open and the methods of channel 0 the reader mails the actor and
// waits for it, so that they take effect in the order of the wire.
//
// States:
//
//	starting ──handshake──▶ running ──end──▶ closing ──channels and exclusive──▶ closed ──▶ stopped
//	    └──────────── refused, silent or lost ────────────────queues are gone──────────────────┘
//
// The ends: the client's connection.close is answered when all channels have
// given back what they held and the exclusive queues are gone; the socket is
// then the client's to close, within 3 s. A connection
// error goes the same way, is told then, and waits for close-ok. A dead socket
// goes the same way without a word. A channel that panics is stopped, never
// restarted, and costs the connection (541).
//
// Deadlines: one timer. While starting, the handshake's (10 s). While running,
// half a heartbeat interval: a heartbeat is sent if nothing was written in it,
// and the peer is dead when four in a row brought no byte, so after 2 to 2.5
// intervals; waiting for credit does not count. Every 5 s in which nothing is
// read for the sake of credit, room or an alarm, the socket is asked whether the
// peer has reset it. While closing and closed,
// CloseTimeout each (10 s); a client that is forced out has 3 s to answer. All of
// them count the time that the broker runs, and after a pause of it a peer has all of
// its heartbeat intervals anew (ADR 33). The reader waits for 30 s of that time for a
// channel number to be free. The writer's: nothing of what it writes goes out for SendTimeout (15 s) (ADR 24).
//
// A restart loses: the connection. Its unacknowledged messages are the queues'
// and come back there.
package connection
