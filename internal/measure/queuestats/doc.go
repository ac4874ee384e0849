// Package queuestats has the figures of queues: one [Table] names each in the HTTP API, in lists and in metrics. [Stats] are those
// by which lists sort and filter queues; reading them does not involve the queue actor (ADR 63).
//
// Owns: Stats, one for each queue. Only the queue writes it, at the end of a turn, and only the values that have
// changed. A dormant queue keeps the stats of its last turn.
//
// Takes no mail and sends none, has no states and no deadlines. A write takes some atomic loads and a few stores, no
// lock and no allocation. Nothing survives a restart: a queue writes its stats when it starts.
package queuestats
