// Package walk keeps the lists of files in docs/ARCHITECTURE.md true: those that a publish passes through, and those
// of an expiry.
//
// Owns: nothing. Its test builds itself again with coverage of the actors and runs a broker in a bubble twice: once
// up to the moment before the publish (or the expiry), and once beyond it. Lines that ran only the second time are
// those of the publish, and of nothing before it: not the start, nor connecting, declaring, binding and consuming;
// for the expiry neither the publish.
//
// The rule, for statements of that kind, in files of an actor's own package. The structures below it (backlog, wheel,
// …), the mail and the mailboxes serve all; the channel's parts that a publish walks through count.
//
//  1. Each file on the list has some.
//  2. A file that is not on the list has less than one in twenty of all.
//
// So a list is complete when its files suffice to follow the path of the message, and a file that has left the path
// is found.
package walk
