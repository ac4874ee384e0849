package mail

import (
	"candlemark/protocol"
)

// ChannelClosed: a channel has given everything back and stops. It sent its
// last frames before, or leaves CloseOk to the connection so that the number is
// free before the client can use it again.
type ChannelClosed struct {
	ID      uint16
	Channel Address
	// SendCloseOk asks the connection to answer the client's channel.close.
	SendCloseOk bool
}

// CloseConnection tells a connection to end. From a channel that met a
// connection exception, from the administrator, or at shutdown. Err is a
// *protocol.ConnectionError with what the client is told. With VHost or User
// set it is only for connections to that virtual host, or of that user; those
// that have not logged in yet find out themselves.
type CloseConnection struct {
	Err         error
	VHost, User string
}

// Block tells a connection that the broker is short of something, named by
// Reason ("low on memory"): publishers are not read until Unblock. From the root,
// to every connection, also to those that open meanwhile, and again with another
// Reason when that has changed.
type Block struct{ Reason string }

// Unblock ends what Block began.
type Unblock struct{}

// DescribeConnection asks a connection for ConnectionInfo.
type DescribeConnection struct{ Request }

// Answer implements Answerable: a connection that is gone is described by an
// error.
func (d *DescribeConnection) Answer(Fate) (Address, any) {
	return d.ReplyTo, &ConnectionInfo{Reply: d.Done(
		protocol.ChannelErrorf(protocol.NotFound, "the connection is gone"))}
}

// TLSInfo is auth.TLSInfo.
type TLSInfo struct {
	Protocol, KeyExchange, Cipher, Hash, Subject, Issuer, Validity string
}

// ConnectionInfo answers DescribeConnection. User, VHost and what follows them
// are empty until the handshake is done.
type ConnectionInfo struct {
	Reply
	Name             string // "127.0.0.1:1234 -> 127.0.0.1:5672"
	State            string // "starting", "running", "closing", "closed"; "blocking" or "blocked" in an alarm
	Protocol         string // "AMQP 0-9-1"
	ConnectedAt      int64  // wall ms
	User, VHost      string
	Mechanism        string   // SASL mechanism of the login
	TLS              *TLSInfo // nil without
	ClientProperties protocol.Table
	ChannelMax       uint16
	FrameMax         uint32        // bytes
	Heartbeat        uint16        // s, 0 for none
	Channels         []ChannelLink // by number
	Peer, Local      Endpoint
	Traffic          Traffic
}
