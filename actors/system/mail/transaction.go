package mail

import "errors"

// DeclareTransaction opens a transaction of an AMQP 1.0 connection. From a session to its connection;
// DeclareTransactionReply comes back.
type DeclareTransaction struct {
	Request
	Session Address
	Link    uint32 // handle of the coordinator's link; the transaction is rolled back when the link ends
}

// DeclareTransactionReply answers DeclareTransaction. The error is amqp:resource-limit-exceeded.
type DeclareTransactionReply struct {
	Reply
	ID []byte
}

// DischargeTransaction commits or rolls back a transaction. From a session to its connection; DischargeTransactionReply
// comes back when it has ended.
type DischargeTransaction struct {
	Request
	ID   []byte
	Fail bool // roll it back
}

// DischargeTransactionReply answers DischargeTransaction. The error, an *amqp10.Error, is the reason why the transaction
// was not committed.
type DischargeTransactionReply struct{ Reply }

// AbandonTransactions reports that a session cannot execute its part of transactions. From a session to its connection.
type AbandonTransactions struct {
	Session Address
	Link    uint32   // coordinator's link that has ended, unless Ends
	Ends    bool     // the session ends
	IDs     []string // transactions in which the session had work
}

// TransactionStep is a step towards the end of a transaction.
type TransactionStep uint8

// The steps in order; each may be followed by ForgetTransaction. Prepare ensures that the other steps will succeed;
// then come publish, settle, and forget, which rolls back everything not yet done.
const (
	PrepareTransaction TransactionStep = iota
	PublishTransaction
	SettleTransaction
	ForgetTransaction
)

// StepTransaction makes a session execute its part of a step. From its connection; StepTransactionReply comes back,
// except for ForgetTransaction.
type StepTransaction struct {
	ID   string
	Step TransactionStep
}

// StepTransactionReply answers StepTransaction. Err, an *amqp10.Error, is the reason why the transaction cannot be
// committed.
type StepTransactionReply struct {
	ID      string
	Step    TransactionStep
	Session Address
	Work    bool // the session has work in this transaction
	Err     error
}

// PrepareWork makes a queue guarantee that it can take the messages and settlements of a transaction, all or none: it
// keeps the deliveries locked until Channel settles them, ends, or sends ReleaseWork, and will accept as many messages
// in an Enqueue that is Prepared. From a session; PrepareWorkReply comes back.
type PrepareWork struct {
	Request
	Channel Address
	Numbers []uint64 // deliveries to the channel
	Headers [][]byte // one for each message that no action copies
	Copies  int      // number of copies by actions; those that cannot be made count, too
	Bytes   int64    // size of all bodies
	// DeadLetters: some of the deliveries will be settled with ToDeadLetters.
	DeadLetters bool
}

// Answer implements Answerable. A queue that has crashed restarts with a new address: deliveries by the old address
// cannot be settled at the new one.
func (p *PrepareWork) Answer(Cause) (Address, any) {
	return p.ReplyTo, &PrepareWorkReply{Reply: p.Done(ErrQueueEnded)}
}

// PrepareWorkReply answers PrepareWork. The error is ErrDeliveryLost, ErrSessionNeeded, ErrWorkRefused or ErrQueueEnded.
type PrepareWorkReply struct{ Reply }

// ReleaseWork ends the effect of PrepareWork on deliveries; their locks end as before. From a session.
type ReleaseWork struct {
	Channel Address
	Numbers []uint64
}

// Errors of PrepareWork.
var (
	// ErrDeliveryLost: the channel no longer holds a delivery.
	ErrDeliveryLost = errors.New("a lock has expired")
	// ErrWorkRefused: the queue cannot accept the messages.
	ErrWorkRefused = errors.New("a queue refuses messages")
	// ErrQueueEnded: the queue was deleted or has failed since the work started.
	ErrQueueEnded = errors.New("a queue has ended")
)
