// Package lease is the right of an unused queue to live on (x-expires, policy key expires), as arithmetic.
//
// What it owns: one period, the number of consumers, the time of the last use.
//
// Its states:
//
//	none ──SetPeriod──► running ──Hold──► held          none: no period, the queue lives for ever
//	                    running ◄─Release── held        held: a consumer is attached, the queue cannot expire
//	                    running ──time──► expired       expired: Expired(now) says so; nobody is told
//
// What renews it is listed here and nowhere else (LEASE-3, LEASE-4):
//
//	yes: queue.declare and passive declare that wait for an answer, also when refused as another's exclusive queue (LEASE-5);
//	     basic.get, also of an empty queue; the last consumer leaving (Release); a channel closing that held an unacknowledged
//	     basic.get; any change of the matched policies (SetPeriod); the queue's start, also after a restart (SetPeriod)
//	if the queue's expires-renewed-by names it: publishing and whatever else arrives; peeking; an update, which is purging and what
//	     changes scheduled messages; scheduled messages that are pending
//	no:  declare with nowait; a refused declare; publishing; bind, unbind, purge; ack, nack, reject; questions
//
// Its deadlines: one, last use plus period. It only ever moves later while the period stays, so the owner need not touch its
// timer on renewal: when the timer fires, it asks Expired, and arms again for Deadline if not (LEASE-13).
//
// What a restart loses: the last use; the full period runs again from the start (LEASE-4).
package lease
