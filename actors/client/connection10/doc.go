// Package connection10 is the actor of one client connection that speaks AMQP 1.0: the socket, SASL and open, the
// channel numbers, idle time-outs, and all ways in which a connection ends. It is to sessions what package connection
// is to channels.
//
// Owns: one socket, which the connection of 0-9-1 has passed on with the bytes read from it (Config.Handover there),
// and two goroutines beside the actor. The reader runs the handshake as sequential code, then reads as much as the
// socket has, splits it into frames and sends one mail.Inbound per session and read directly to the session. A writer
// runs only while there is output that the socket did not accept at once (internal/transport/stream, internal/transport/outbox). The actor
// never blocks.
//
// Mail: it takes ChannelClosed, CloseConnection, ReleaseConnectionReply, Block, Unblock, DescribeConnection, PutToken and
// PeerGone, and about transactions (package transactions) DeclareTransaction, DischargeTransaction, StepTransactionReply
// and AbandonTransactions. It sends Inbound, Block, Unblock, AccessChanged, StepTransaction and CloseChannel to its
// sessions, ReleaseConnection to its vhost, and PutTokenReply, DeclareTransactionReply, DischargeTransactionReply and ConnectionInfo
// as answers. For begin and close the reader sends mail to the actor and waits for it, so that they take effect in the
// order received.
//
// A session has the same channel number in both directions. It answers all its frames itself, including begin and
// end; the connection only frees the number when the session reports its end.
//
// Package connection/lifecycle has the states, the timer, the writer and the shutdown order.
//
// Deadlines: one timer. While starting, it is the handshake's deadline (10 s). While running, it fires every third of
// the client's idle time-out or every fourth of the broker's, whichever is shorter: an empty frame is sent if nothing
// was written since the last check, and the peer is lost if nothing was received for Silence (60 s), half of which is
// announced; waiting for credit does not count. While closing and closed, CloseTimeout each (10 s); a client whose
// connection the broker closes has 3 s to answer.
//
// A restart loses: the connection. The queues requeue its unsettled messages.
package connection10
