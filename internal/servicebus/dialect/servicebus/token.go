package servicebus

import (
	"encoding/binary"
	"slices"

	"candlemark/protocol/amqp10"
)

// LockToken identifies a delivery among the deliveries of all queues, and is its delivery tag: the lock, then the
// number of the message in its queue (mail.Facts), in the byte order of .NET for the parts of a uuid.
type LockToken [16]byte

// NewLockToken returns the token of a delivery.
func NewLockToken(lock, seq uint64) (t LockToken) {
	binary.BigEndian.PutUint64(t[:8], lock)
	binary.BigEndian.PutUint64(t[8:], seq)
	return t
}

// Delivery returns the lock and the number in the token.
func (t LockToken) Delivery() (lock, seq uint64) {
	return binary.BigEndian.Uint64(t[:8]), binary.BigEndian.Uint64(t[8:])
}

// UUID returns the token in the form of requests.
func (t LockToken) UUID() amqp10.UUID { return amqp10.UUID(swapped(t)) }

// TokenOf returns the token in a uuid of a request.
func TokenOf(u amqp10.UUID) LockToken { return LockToken(swapped(u)) }

// swapped reverses the bytes of the parts that .NET has in the other byte order.
func swapped(b [16]byte) [16]byte {
	slices.Reverse(b[0:4])
	slices.Reverse(b[4:6])
	slices.Reverse(b[6:8])
	return b
}
