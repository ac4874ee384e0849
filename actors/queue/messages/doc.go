// Package messages keeps all messages of one queue: ready, taken by a consumer, scheduled, dead-lettered or
// forwarded; in memory or in the journal only. It knows nothing of consumers.
//
// Owns: the backlog and the parts based on its entries: expiry, scheduled messages, dead letters, paging, records. It
// adds, ends and requeues messages; the queue delivers them.
//
// Deadlines: its parts' own.
//
// A restart loses messages outside the journal; Restore adds the others.
package messages
