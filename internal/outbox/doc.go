// Package outbox gathers the output of a connection.
//
// Owns: the bytes between the channels of one connection and its socket. It is the one sanctioned lock of the broker
// (ADR 7): channels append whole contents from their own turns, so that the frames of two contents never mix, and
// everything that has gathered goes out in one write. Large bodies may be references to what is kept elsewhere (ADR
// 66).
//
// Mail: none. It calls back: when a writer is needed, when there is room again, when it has run dry after Finish.
//
// States: idle, then writing from the first append until Take returns nil. The goroutine that starts the writing has
// the turn: with a TryWrite that is the appender itself, for one attempt that does not block; what the socket does
// not take at once goes to a writer goroutine. So an idle connection has no buffer and no writer, and a reply at low
// load costs no change of goroutine. After Close or Finish later appends are dropped.
//
//	idle ──End──▶ writing ──Take is nil──▶ idle
//
// Deadlines: none; a client that does not read is its connection's to judge.
//
// A restart loses: what was not written.
package outbox
