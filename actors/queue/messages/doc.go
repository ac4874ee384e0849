// Package messages keeps all messages of one queue, wherever they are: ready, taken by a consumer, scheduled, dead or moved
// on; in memory or in the journal only. It knows no consumer.
//
// Owns: the backlog and what goes by its entries: expiry, scheduled messages, dead letters, paging, records. How messages
// come in, end and come back is here; who gets them is the queue's.
//
// Deadlines: those of its parts.
//
// A restart loses what is not in the journal; Restore takes in what is.
package messages
