// Package transactions decides over the transactions of a connection of AMQP 1.0 [ADR 84]. Work is held by the sessions that it came to; this is who has
// all of them prepare, and then publish and settle, or forget.
//
// Owns: the open transactions: who has declared them, how far their end has come, and who has yet to answer.
//
// Sends: StepTransaction to sessions, TransactionDeclared and TransactionDischarged to who asked.
//
// States:
//
//	active ──discharge──▶ preparing ──all can──▶ publishing ──▶ settling ──▶ over
//	   └──discharge(fail), the end of its link, its time──┴──somebody cannot──▶ forgotten
//
// Deadlines: Life from the declaration until all sessions are prepared.
//
// A restart loses: the connection; what had not been decided has not happened.
package transactions
