// Package connection is the actor of one client connection: the socket, the handshake, the channel numbers, the
// heartbeats, and every way in which a connection ends.
//
// Owns: one socket and two goroutines beside the actor. The reader does the handshake as sequential code, then reads
// as much as the socket has, splits it into frames and sends one mail.Inbound per channel and read straight to the
// channel. If the socket is one of many that a loop waits for (internal/socket), its goroutine ends with the
// handshake and is started again for anything that has to wait: methods of channel 0, channel.open, credit, an alarm,
// the farewell. A writer runs only while there is output that the socket did not take at once (internal/outbox). The
// actor handles rare operations, and never blocks.
//
// Mail: it takes ChannelClosed, CloseConnection, ConnectionReleased, Block, Unblock, DescribeConnection and PeerGone.
// It sends Inbound and CloseChannel to its channels, ReleaseConnection to its vhost, ConnectionInfo as an answer. For
// channel.open and the methods of channel 0 the reader mails the actor and waits for it, so that they take effect in
// the order of the wire.
//
// Package lifecycle has the states, the timer, the writer and the order of the end, which connections of AMQP 1.0
// share.
//
// The ends: the client's connection.close is answered when all channels have returned their deliveries and the
// exclusive queues are gone; the client then has 3 s to close the socket. A connection error takes the same path, is
// sent to the client at its end, and waits for close-ok. A dead socket takes the same path without output. A channel
// that panics is stopped, never restarted, and ends the connection (541).
//
// Deadlines: one timer. While starting, the handshake's (10 s). While running, half a heartbeat interval: a heartbeat
// is sent if nothing was written in it, and the peer is dead when four in a row brought no byte, so after 2 to 2.5
// intervals; waiting for credit does not count. Every 5 s in which reading is stopped for credit, room or an alarm,
// the socket is checked for a reset by the peer. While closing and closed, CloseTimeout each (10 s); a client that is
// forced out has 3 s to answer. Time when the machine sleeps does not count for any of them, and after it a peer has
// all of its heartbeat intervals again (ADR 33). The reader waits up to 30 s for a channel number to be free. The
// writer's: no output is accepted for SendTimeout (15 s) (ADR 24).
//
// A restart loses: the connection. The queues requeue its unacked messages.
package connection
