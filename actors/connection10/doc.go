// Package connection10 is the actor of one client connection that speaks AMQP 1.0: the socket, SASL and open, the
// channel numbers, idle time-outs, and every way in which a connection ends. It is to sessions what package
// connection is to channels.
//
// Owns: one socket, which the connection of 0-9-1 has passed on with the bytes read from it (Config.Handover there),
// and two goroutines beside the actor. The reader does the handshake as sequential code, then reads as much as the
// socket has, splits it into frames and sends one mail.Inbound per session and read straight to the session. A writer
// runs only while there is output that the socket did not take at once (internal/stream, internal/outbox). The actor
// never blocks.
//
// Mail: it takes ChannelClosed, CloseConnection, ConnectionReleased, Block, Unblock, DescribeConnection and PeerGone,
// and about transactions (below it) DeclareTransaction, DischargeTransaction, TransactionStepped and
// AbandonTransactions. It sends Inbound, Block, Unblock, StepTransaction and CloseChannel to its sessions, ReleaseConnection to its
// vhost, ConnectionInfo as an answer. For begin and close the reader mails the actor and waits for it, so that they
// take effect in the order of the wire.
//
// A session has the same channel number in both directions. It answers all its frames itself, including begin and
// end; the connection only frees the number when the session reports its end.
//
// Package lifecycle, below connection, has the states, the timer, the writer and the order of the end.
//
// Deadlines: one timer. While starting, the handshake's (10 s). While running, a check every third of the client's
// idle time-out or fourth of our own, whichever is shorter: an empty frame is sent if nothing was written since the
// last, and the peer is lost when nothing came for Silence (60 s), half of which is announced; waiting for credit
// does not count. While closing and closed, CloseTimeout each (10 s); a client that is forced out has 3 s to answer.
//
// A restart loses: the connection. The queues requeue its unsettled messages.
package connection10
