// Package moments reads the times that headers of messages name: how long a delayed exchange is to hold them (DLY-2), until when a queue
// keeps them scheduled (DLY-8), when they expire (TTL-5).
//
// Everything but Schedules, which the vhost actor sets and anybody reads, is pure.
package moments
