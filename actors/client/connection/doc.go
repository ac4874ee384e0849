// Package connection is the actor of one client connection: the socket, the handshake, the channel numbers, the
// heartbeats, and all ways in which a connection ends.
//
// Owns: one socket and two goroutines beside the actor. The reader runs the handshake as sequential code, then reads as
// much as the socket has, splits it into frames and sends one mail.Inbound per channel and read directly to the
// channel. If a shared loop waits for the socket (internal/transport/socket), the reader's goroutine ends after the handshake,
// and is started again for everything that has to wait: methods of channel 0, channel.open, credit, an alarm, the end.
// A writer runs only while there is output that the socket did not accept at once (internal/transport/outbox). The actor handles
// rare operations, and never blocks.
//
// Mail: it takes ChannelClosed, CloseConnection, ReleaseConnectionReply, Block, Unblock, DescribeConnection and PeerGone.
// It sends Inbound and CloseChannel to its channels, ReleaseConnection to its vhost, ConnectionInfo as an answer. For
// channel.open and the methods of channel 0 the reader sends mail to the actor and waits for it, so that they take
// effect in the order received.
//
// Package lifecycle has the states, the timer, the writer and the shutdown order, shared with connections of AMQP 1.0.
//
// Ends: the client's connection.close is answered when all channels have returned their deliveries and the exclusive
// queues are gone; the client then has 3 s to close the socket. A connection error takes the same path, is sent to the
// client at its end, and waits for close-ok. A dead socket takes the same path without output. A channel that panics is
// stopped, never restarted, and ends the connection (541).
//
// Deadlines: one timer. While starting, it is the handshake's deadline (10 s). While running, it fires every half
// heartbeat interval: a heartbeat is sent if nothing was written in that time, and the peer is dead after four half
// intervals in a row without a byte, so after 2 to 2.5 intervals; waiting for credit does not count. Every 5 s in which
// reading is stopped for credit, room or an alarm, the socket is checked for a reset by the peer. While closing and
// closed, CloseTimeout each (10 s); a client whose connection the broker closes has 3 s to answer. Time while the
// machine sleeps does not count for any of them, and afterwards a peer has all its heartbeat intervals again (ADR 33).
// The reader waits up to 30 s for a channel number to be free. The writer gives up when the client accepts no output
// for SendTimeout (15 s, ADR 24).
//
// A restart loses: the connection. The queues requeue its unacked messages.
package connection
