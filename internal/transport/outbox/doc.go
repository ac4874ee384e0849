// Package outbox gathers the output of a connection.
//
// Owns: the bytes between the channels of one connection and its socket. It is the only lock shared by actors (ADR 7):
// channels append whole contents in their own turns, so that the frames of two contents never mix, and all gathered
// output is sent in one write. Large bodies may be references to memory elsewhere (ADR 66).
//
// Mail: none. Callbacks: when a writer is needed, when there is room again, when it is empty after Finish.
//
// States: idle, then writing from the first append until Take returns nil. The goroutine that starts writing has the
// write turn: with a TryWrite it is the appender itself, for one attempt that does not block; bytes that the socket
// does not accept immediately are left to a writer goroutine. So an idle connection has no buffer and no writer, and a
// reply at low load needs no switch of goroutines. After Close or Finish later appends are dropped.
//
//	idle ──End──▶ writing ──Take is nil──▶ idle
//
// Deadlines: none; the connection decides about clients that do not read.
//
// A restart loses: unwritten bytes.
package outbox
