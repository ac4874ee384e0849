// Package lease computes when an unused queue expires (x-expires, policy key expires).
//
// Owns: a period, the number of consumers, the time of the last use.
//
// States:
//
//	none ──SetPeriod──► running ──Hold──► held          none: no period, the queue never expires
//	                    running ◄─Release── held        held: a consumer is attached, the queue cannot expire
//	                    running ──time──► expired       expired: Expired(now) returns true; nothing is called
//
// The uses that renew it are listed here and nowhere else (LEASE-3, LEASE-4):
//
//	yes: queue.declare and passive declare that wait for an answer, even if refused as another's exclusive queue (LEASE-5);
//	     basic.get, also of an empty queue; the last consumer leaving (Release); a channel closing that held an unacknowledged
//	     basic.get; any change of the matched policies (SetPeriod); the queue's start, also after a restart (SetPeriod)
//	if the queue's expires-renewed-by names it: publishing and other arrivals; peeking; an update, that is a purge or
//	     a change of scheduled messages; pending scheduled messages
//	no:  declare with nowait; a refused declare; publishing; bind, unbind, purge; ack, nack, reject; queries
//
// Deadlines: one, last use plus period. While the period is unchanged it only moves later, so the owner need not reset
// its timer on renewal: when the timer fires, it calls Expired, and resets the timer to Deadline if the lease continues
// (LEASE-13).
//
// A restart loses the last use; the full period restarts (LEASE-4).
package lease
