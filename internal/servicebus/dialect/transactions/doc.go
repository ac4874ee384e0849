// Package transactions encodes and decodes transaction requests and states of AMQP 1.0 [transactions 4.5]: messages to
// a coordinator, states that name a transaction, and the conditions of errors. It also tracks the open transactions of
// a connection.
//
// Owns: the ids of the open transactions of a connection. One goroutine changes them, any goroutine may read an
// immutable snapshot.
//
// Deadlines: none. A restart loses the connection, and its transactions with it.
package transactions
