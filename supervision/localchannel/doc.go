// Package localchannel runs commands of an administrator, such as a declaration, a get or a
// publish over HTTP, on a channel actor whose client is a goroutine of the broker instead
// of a connection. So they meet the same checks, permissions and actors as those of any
// client.
//
// Owns: each channel for one command: it is opened, written to and read in whole frames,
// and left, which gives back what the channel holds before the command's answer is sent.
//
// Deadlines: a command lasts as long as its context; to leave takes 5 s of running time at
// most (ADR 33).
package localchannel
