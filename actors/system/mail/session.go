package mail

// PutToken applies a checked token of Azure Service Bus to a connection: the rights of User apply at addresses in
// Scope. From a session to its connection; PutTokenReply comes back, and AccessChanged goes to all its sessions.
type PutToken struct {
	Request
	Scope string // an address
	User  string // user whose key signed it
	Tags  []string
	Ends  int64 // in the broker's time, ms; 0 for never
}

// PutTokenReply answers PutToken. The error is grants.ErrTooMany.
type PutTokenReply struct{ Reply }

// AccessChanged: tokens for these scopes were added or have expired, so links to addresses in them have to be checked
// again. From a connection to its sessions.
type AccessChanged struct{ Scopes []string }

// SessionInfo is the flow control of a session of AMQP 1.0, and its links.
type SessionInfo struct {
	HandleMax                                                            uint32
	NextIncomingID, IncomingWindow, NextOutgoingID, RemoteIncomingWindow uint32
	Links                                                                []LinkInfo // ascending by handle
}

// LinkInfo describes a link.
type LinkInfo struct {
	Handle                uint32
	Name, Address         string
	Receiver              bool   // the client is the receiver
	Queue                 string // source of the link
	Settled               bool   // its messages are sent settled
	DeliveryCount, Credit uint32
	Unsettled             int // messages that the receiver has not settled
}
