// Package queues is the side of a channel or session that faces queues: what it has published in a turn, what it has not settled,
// and publishes that wait.
//
// Owns: the records of queues (actors/client/peers), routes and batches (actors/client/routing), unsettled deliveries
// (actors/client/unacked), the publish that waits, and the counts of publishes. Its owner has the requests that wait (actors/client/input).
package queues
