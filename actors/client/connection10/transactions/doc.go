// Package transactions coordinates the transactions of a connection of AMQP 1.0 [ADR 84]. The sessions hold the work;
// the coordinator makes all of them prepare, and then publish and settle, or forget.
//
// Owns: the open transactions: their sessions, the progress of commits and rollbacks, and outstanding answers.
//
// Sends: StepTransaction to sessions, DeclareTransactionReply and DischargeTransactionReply as answers.
//
// States:
//
//	active ──discharge──▶ preparing ──all can──▶ publishing ──▶ settling ──▶ over
//	   └──discharge(fail), the end of its link, its time──┴──a session cannot prepare──▶ forgotten
//
// Deadlines: Life from the declaration until all sessions are prepared.
//
// A restart loses: the connection; undecided transactions are rolled back.
package transactions
