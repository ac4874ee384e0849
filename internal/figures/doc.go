// Package figures has what lists tell queues apart by, where anybody can read it without asking a queue (ADR 63).
//
// Owns: Figures, one for each queue, written by that queue alone at the end of a turn, and only what has changed. They are those of
// the end of its last turn, also of a queue that is dormant.
//
// Takes no mail and sends none, has no states and no deadlines. Writing is some loads and a few stores, without a lock and without memory.
// A restart begins anew: a queue tells when it begins.
package figures
