// Package transactions knows what is said of transactions in AMQP 1.0 [transactions 4.5]: what comes to a coordinator, states that
// name a transaction, and the conditions of errors. It knows which transactions of a connection are open, too.
//
// Owns: the ids of the open transactions of a connection. One changes them, everybody reads an immutable snapshot.
//
// Deadlines: none. A restart loses the connection, and its transactions with it.
package transactions
