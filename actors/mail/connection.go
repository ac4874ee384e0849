package mail

import "github.com/asynkron/protoactor-go/actor"

// ChannelClosed: a channel has given everything back and stops. It sent its
// last frames before, or leaves CloseOk to the connection so that the number is
// free before the client can use it again.
type ChannelClosed struct {
	ID      uint16
	Channel *actor.PID
	// SendCloseOk asks the connection to answer the client's channel.close.
	SendCloseOk bool
}

// CloseConnection tells a connection to end. From a channel that met a
// connection exception, from the administrator, or at shutdown. Err is a
// *protocol.ConnectionError with what the client is told.
type CloseConnection struct{ Err error }
