package mail

// SessionInfo is the flow control of a session of AMQP 1.0, and its links.
type SessionInfo struct {
	HandleMax                                                            uint32
	NextIncomingID, IncomingWindow, NextOutgoingID, RemoteIncomingWindow uint32
	Links                                                                []LinkInfo // by handle
}

// LinkInfo describes a link.
type LinkInfo struct {
	Handle                uint32
	Name, Address         string
	Receiver              bool   // the client receives on it
	Queue                 string // that it receives from
	Settled               bool   // what it receives is settled when it is sent
	DeliveryCount, Credit uint32
	Unsettled             int // messages that whoever has got them has not settled
}
