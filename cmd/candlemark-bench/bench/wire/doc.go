// Package wire is a client of AMQP 0-9-1 that costs little, for measuring brokers: publishes are encoded once and repeated
// ([Batch]), deliveries are read without allocation, and an acknowledgement is bytes in a buffer of the caller's. Frames, methods
// and properties are package protocol's.
//
// Nothing runs in the background. One goroutine may read a connection while others write to it.
package wire
