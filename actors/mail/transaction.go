package mail

import "errors"

// DeclareTransaction opens a transaction of a connection of AMQP 1.0. From a session to its connection; TransactionDeclared comes back.
type DeclareTransaction struct {
	Request
	Session Address
	Link    uint32 // handle of the coordinator's link: it is rolled back when that ends
}

// TransactionDeclared answers DeclareTransaction. The error is amqp:resource-limit-exceeded.
type TransactionDeclared struct {
	Reply
	ID []byte
}

// DischargeTransaction commits a transaction, or rolls it back. From a session to its connection; TransactionDischarged comes back when it has ended.
type DischargeTransaction struct {
	Request
	ID   []byte
	Fail bool // roll it back
}

// TransactionDischarged answers DischargeTransaction. The error is that of a transaction that is not committed, *amqp10.Error.
type TransactionDischarged struct{ Reply }

// AbandonTransactions tells that a session will not do its part. From a session to its connection.
type AbandonTransactions struct {
	Session Address
	Link    uint32   // the coordinator's link that ended, or
	Ends    bool     // the session does, which had
	IDs     []string // work of these
}

// TransactionStep names a part of the end of a transaction.
type TransactionStep uint8

// In this order, but that each may be followed by ForgetTransaction: prepare, so that all that follows will succeed; publish; settle; forget, which rolls back
// what was not done.
const (
	PrepareTransaction TransactionStep = iota
	PublishTransaction
	SettleTransaction
	ForgetTransaction
)

// StepTransaction has a session do its part of a step. From its connection; TransactionStepped comes back but for ForgetTransaction.
type StepTransaction struct {
	ID   string
	Step TransactionStep
}

// TransactionStepped answers StepTransaction. Err, an *amqp10.Error, says why the transaction cannot be committed.
type TransactionStepped struct {
	ID      string
	Step    TransactionStep
	Session Address
	Work    bool // the session has some to do
	Err     error
}

// PrepareWork has a queue see to it that it can take messages and settlements of a transaction, all or none: it holds the deliveries until Channel settles
// them, is gone, or ends that with ReleaseWork, and will take as many messages in an Enqueue that is Agreed. From a session; WorkPrepared comes back.
type PrepareWork struct {
	Request
	Channel Address
	Numbers []uint64 // of deliveries to the channel
	Headers [][]byte // of messages
	Bytes   int64    // of their bodies
}

// Answer implements Answerable. A queue that has crashed comes back with another address: whatever was taken from the one before cannot be settled there.
func (p *PrepareWork) Answer(Fate) (Address, any) {
	return p.ReplyTo, &WorkPrepared{Reply: p.Done(ErrQueueEnded)}
}

// WorkPrepared answers PrepareWork. The error is ErrDeliveryLost, ErrSessionNeeded, ErrWorkRefused or ErrQueueEnded.
type WorkPrepared struct{ Reply }

// ReleaseWork has deliveries that were held by PrepareWork locked as before. From a session.
type ReleaseWork struct {
	Channel Address
	Numbers []uint64
}

// Errors of PrepareWork.
var (
	// ErrDeliveryLost: the channel does not hold a delivery any more.
	ErrDeliveryLost = errors.New("a lock has run out")
	// ErrWorkRefused: the queue takes no more messages.
	ErrWorkRefused = errors.New("a queue refuses messages")
	// ErrQueueEnded: the queue was deleted, or has failed, since the work for it came.
	ErrQueueEnded = errors.New("a queue has ended")
)
