package transactions

import (
	"maps"
	"slices"
	"sync/atomic"

	"candlemark/protocol/amqp10"
)

// Conditions of errors [AMQP 1.0 transactions 4.5.8].
const (
	UnknownID amqp10.Symbol = "amqp:transaction:unknown-id"
	Rollback  amqp10.Symbol = "amqp:transaction:rollback"
	Timeout   amqp10.Symbol = "amqp:transaction:timeout"
)

// Capabilities are a coordinator's capabilities [AMQP 1.0 transactions 4.5.7].
var Capabilities = []amqp10.Symbol{"amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn"}

// Descriptors of requests to a coordinator.
const (
	codeDeclare   = 0x31
	codeDischarge = 0x32
)

// Request asks a coordinator for a declaration, or with an ID for a discharge.
type Request struct {
	ID   []byte
	Fail bool // the transaction is to be rolled back
}

// Read reads a message to a coordinator, which the request does not alias. Errors are *amqp10.Error.
func Read(message []byte) (r Request, err error) {
	s, err := amqp10.ScanSections(message)
	if err != nil {
		return r, err
	}
	code, fields := uint64(0), amqp10.List(nil)
	for _, v := range s.BodyValues() {
		if s.BodyKind == amqp10.SectionValue {
			code, fields = described(v)
		}
	}
	field := func(i int) any {
		if i < len(fields) {
			return fields[i]
		}
		return nil
	}
	switch code {
	case codeDeclare:
		if field(0) != nil {
			return r, amqp10.Errorf(amqp10.NotImplemented, "distributed transactions are not supported")
		}
		return r, nil
	case codeDischarge:
		id, ok := field(0).([]byte)
		if !ok {
			return r, amqp10.Errorf(amqp10.InvalidField, "discharge without txn-id")
		}
		fail, _ := field(1).(bool)
		return Request{ID: id, Fail: fail}, nil
	}
	return r, amqp10.Errorf(amqp10.NotImplemented, "a coordinator accepts only declare and discharge")
}

// described returns the descriptor of a list, 0 for unknown ones, and its fields.
func described(v amqp10.Value) (code uint64, fields amqp10.List) {
	descriptor, value := v.Described()
	code, numbered := descriptor.Uint64()
	if name, ok := descriptor.Text(); ok && !numbered {
		switch string(name) {
		case "amqp:declare:list":
			code = codeDeclare
		case "amqp:discharge:list":
			code = codeDischarge
		}
	}
	fields, ok := value.Decode().(amqp10.List)
	if !ok {
		return 0, nil
	}
	return code, fields
}

// Outcome reads the outcome of a transactional state. The error is an *amqp10.Error if there is none.
func Outcome(state *amqp10.State) (amqp10.State, error) {
	var d amqp10.Disposition
	if len(state.Outcome) > 0 {
		if _, err := amqp10.DecodeInto(inDisposition(state.Outcome), &d); err != nil {
			return d.State, err
		}
	}
	switch d.State.Kind {
	case amqp10.Accepted, amqp10.Rejected, amqp10.Released, amqp10.Modified:
		return d.State, nil
	case amqp10.NoState, amqp10.Received, amqp10.Declared, amqp10.Transactional:
	}
	return d.State, amqp10.Errorf(amqp10.InvalidField, "a transactional state without an outcome")
}

// inDisposition encodes a disposition with a state, because states are decoded only as fields.
func inDisposition(state amqp10.Value) []byte {
	b, start := amqp10.OpenList(amqp10.AppendDescriptor(nil, amqp10.CodeDisposition))
	b = amqp10.AppendUInt(amqp10.AppendBool(b, amqp10.RoleReceiver), 0)
	b = amqp10.AppendNull(amqp10.AppendNull(b))
	return amqp10.CloseCompound(append(b, state...), start, 5)
}

// Provisional returns the state of a delivery that has an outcome once its transaction is committed. It aliases id.
func Provisional(id []byte, outcome amqp10.StateKind) amqp10.State {
	return amqp10.State{Kind: amqp10.Transactional, TxnID: id, Outcome: amqp10.AppendComposite(nil, &amqp10.State{Kind: outcome})}
}

// ErrUnknown returns the error for a transaction that is not open: *amqp10.Error amqp:transaction:unknown-id.
func ErrUnknown() *amqp10.Error {
	return amqp10.Errorf(UnknownID, "no transaction of the connection has this txn-id")
}

// ErrRollback returns the error for a transaction that cannot be committed, with the reason: *amqp10.Error
// amqp:transaction:rollback.
func ErrRollback(because string) *amqp10.Error {
	return amqp10.Errorf(Rollback, "rolled back: %s", because)
}

// Known are the ids of the open transactions of a connection. The zero value has none.
type Known struct {
	now atomic.Pointer[map[string]bool]
}

// Has reports whether a transaction is open.
func (k *Known) Has(id []byte) bool {
	if k == nil {
		return false
	}
	all := k.now.Load()
	return all != nil && (*all)[string(id)]
}

// Set opens or closes a transaction. Only its owner calls it.
func (k *Known) Set(id []byte, open bool) {
	next := map[string]bool{}
	if all := k.now.Load(); all != nil {
		next = maps.Clone(*all)
	}
	if delete(next, string(id)); open {
		next[string(slices.Clone(id))] = true
	}
	k.now.Store(&next)
}
