package mail

// PutToken has a token of Azure Service Bus count on a connection: it was checked, and says whose rights count at the addresses of a scope. From a
// session to its connection; TokenPut comes back, and AccessChanged goes to all its sessions.
type PutToken struct {
	Request
	Scope string // an address
	User  string // whose key has signed it
	Tags  []string
	Ends  int64 // of the broker's time, ms; 0 for never
}

// TokenPut answers PutToken. The error is grants.ErrTooMany.
type TokenPut struct{ Reply }

// AccessChanged says where a token came, or has ended: links to addresses that a scope covers have to be checked anew. From a connection to its sessions.
type AccessChanged struct{ Scopes []string }

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
