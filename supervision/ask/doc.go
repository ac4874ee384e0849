// Package ask lets non-actor goroutines send requests to one actor (One) or many at once (Asker.All), or receive mail
// at an address of their own (Inbox).
//
// Owns: the addresses of its inboxes in the actor system, from Asker.Inbox until Inbox.Close. An inbox has room for
// all replies, so that no actor waits for it.
//
// Deadlines: All waits for answers for Patience, 5 s of running time (ADR 33); One as long as its context lasts.
package ask
