// Package entity describes queues, topics and subscriptions like Azure Service Bus, and maps them to ordinary queues,
// exchanges and policies, so that clients of both see the same.
//
//	queue         a quorum queue of its name, and a policy for it
//	topic         an exchange of type x-rules of its name, and a policy for it if it caps TTLs
//	subscription  a queue TOPIC/Subscriptions/NAME, as above, bound to the exchange by its rules
//
//	name.go: paths · duration.go: ISO 8601 · description.go: properties
//	queue.go: Description ──▶ arguments and policy ──▶ Description · extra.go: what neither has
//
// It is pure. The properties stored beside the queue, Extra, are bounded by MaxMetadata and the lengths of names.
package entity
