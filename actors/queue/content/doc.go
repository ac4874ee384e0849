// Package content knows a message in each of its shapes: as it arrives (message.Message), in memory (backlog.Record), in
// the journal (store.Record), and as a consumer gets it (mail.Delivery); and the times that its headers name.
//
// Owns: nothing. Everything is a function of its arguments.
//
// Deadlines: none. A restart loses nothing.
package content
