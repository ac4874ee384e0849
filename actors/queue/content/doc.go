// Package content converts a message between its forms: as it arrives (message.Message), in memory (backlog.Record),
// in the journal (store.Record), and as a consumer gets it (mail.Delivery); and reads the times in its headers.
//
// Owns: nothing. All functions depend on their arguments only.
//
// Deadlines: none. A restart loses nothing.
package content
