// Package socket reads many connections in one place: one goroutine reads all that has arrived, without waking
// others, and passes it on before any of it is handled (ADR 57).
//
// Owns: the sockets that Loops.Take was given, and a goroutine for each two processors, which waits until one of them
// can be read. On Linux only, and for TCP without TLS; other connections stay what they were, with a goroutine of
// their own.
//
// A Conn is a net.Conn like others, whose Read and Write wait. Listen leaves the reading to the loop: it calls its
// Client, until Pause. There is one reader at a time, the Client or the goroutine that has called Pause.
//
// States:
//
//	quiet ──Listen──▶ listening ──Pause──▶ quiet
//	  └──Close──▶ closed ◀──Pause── closing ◀──Close── listening
//
// Close of one that listens ends its traffic; its Client learns of it from its next TryRead, and lets go of the
// descriptor by Pause.
//
// Deadlines: those of Read and Write. They are times of the wall, as with other connections.
package socket
