// Package socket reads many connections in one goroutine: it reads all available input without waking others, and
// passes it on before any of it is handled (ADR 57).
//
// Owns: the sockets that Loops.Take was given, and one goroutine for every two processors, which waits until a socket
// is readable. Only on Linux, and for TCP without TLS; other connections keep a goroutine of their own.
//
// A Conn is a net.Conn whose Read and Write block, like others. Listen hands the reading to the loop, which calls the
// Client until Pause. There is one reader at a time, the Client or the goroutine that has called Pause.
//
// States:
//
//	quiet ──Listen──▶ listening ──Pause──▶ quiet
//	  └──Close──▶ closed ◀──Pause── closing ◀──Close── listening
//
// Close of a listening Conn ends its traffic; the Client learns of it from its next TryRead, and releases the
// descriptor with Pause.
//
// Read and Write have deadlines in wall time, as with other connections.
package socket
