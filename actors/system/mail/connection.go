package mail

import (
	"candlemark/protocol"
)

// ChannelClosed: a channel has returned all its deliveries and stops. It has sent its last frames, or sets SendCloseOk
// so that the connection sends close-ok and the number is free before the client can use it again.
type ChannelClosed struct {
	ID      uint16
	Channel Address
	// SendCloseOk asks the connection to answer the client's channel.close.
	SendCloseOk bool
}

// CloseConnection ends a connection. From a channel on a connection exception, from the administrator, or at shutdown.
// Err, a *protocol.ConnectionError, is sent to the client. If VHost or User is set, it applies only to connections to
// that virtual host or of that user; a connection still in its handshake checks this itself.
type CloseConnection struct {
	Err         error
	VHost, User string
}

// Block informs a connection that the broker is short of a resource, named by Reason ("low on memory"): the connection
// reads no more publishes until Unblock. From the root to every connection, including connections that open later, and
// again when the Reason changes.
type Block struct{ Reason string }

// Unblock ends Block.
type Unblock struct{}

// DescribeConnection asks a connection for ConnectionInfo.
type DescribeConnection struct{ Request }

// Answer implements Answerable: the answer for a connection that has ended has an error.
func (d *DescribeConnection) Answer(Cause) (Address, any) {
	return d.ReplyTo, &ConnectionInfo{Reply: d.Done(
		protocol.ChannelErrorf(protocol.NotFound, "the connection is gone"))}
}

// TLSInfo is auth.TLSInfo.
type TLSInfo struct {
	Protocol, KeyExchange, Cipher, Hash, Subject, Issuer, Validity, Serial string
}

// ConnectionInfo answers DescribeConnection. User, VHost and the fields after them are empty until the handshake is
// done.
type ConnectionInfo struct {
	Reply
	Name             string // "127.0.0.1:1234 -> 127.0.0.1:5672"
	State            string // "starting", "running", "closing", "closed"; "blocking" or "blocked" in an alarm
	Protocol         string // "AMQP 0-9-1"
	ConnectedAt      int64  // wall ms
	User, VHost      string
	Mechanism        string   // SASL mechanism of the login
	TLS              *TLSInfo // nil without TLS
	ClientProperties protocol.Table
	ChannelMax       uint16
	FrameMax         uint32        // bytes
	Heartbeat        uint16        // s, 0 for none
	Channels         []ChannelLink // ascending by number
	Peer, Local      Endpoint
	Traffic          Traffic
	Memory           int64 // bytes of what it has open, and of output that the client has not read
}
