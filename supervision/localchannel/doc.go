// Package localchannel runs commands of an administrator, such as a declaration, a get or a publish over HTTP, on a
// channel actor whose client is a goroutine of the broker instead of a connection. The same checks and permissions
// apply, and the same actors are involved, as for any client.
//
// Owns: each channel for one command: it is opened, written to and read in whole frames, and left, which returns the
// channel's messages before the command's answer is sent.
//
// Deadlines: a command lasts as long as its context; leaving takes at most 5 s of running time (ADR 33).
package localchannel
