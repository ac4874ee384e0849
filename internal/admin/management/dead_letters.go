package management

// DeadLetters counts messages that died since the broker started (TTL-29), and answers to them.
type DeadLetters struct {
	Expired       Deaths `json:"expired"`
	Rejected      Deaths `json:"rejected"`
	MaxLen        Deaths `json:"maxlen"`
	DeliveryLimit Deaths `json:"delivery_limit"`
	// Hops counts messages that queues have moved on too often.
	Hops Deaths `json:"hops"`
	// Copies counts messages that queues could not move on because they would have had too many copies.
	Copies Deaths `json:"copies"`
	// RuleFailed are those to which a rule of a subscription could not be applied.
	RuleFailed Deaths `json:"rule_failed"`
	// Answered counts the answers to requests, which are no dead letters (ANS-1).
	Answered Deaths `json:"answered"`
	// QueuesExpired are leases that ran out, Discarded the messages that went with those queues.
	QueuesExpired uint64 `json:"queues_expired"`
	Discarded     uint64 `json:"messages_discarded_with_queues"`
}

// Deaths counts dead letters for one reason.
type Deaths struct {
	// Messages that left their queue, each in one of these: without a dead-letter exchange, or by the strategy that their queue had.
	Disabled    uint64 `json:"disabled"`
	AtMostOnce  uint64 `json:"at_most_once"`
	AtLeastOnce uint64 `json:"at_least_once"`
	// Routed are messages that went to a queue or more, Confirmed the routed messages that all their queues have taken.
	Routed    uint64 `json:"routed"`
	Confirmed uint64 `json:"confirmed"`
	// Unroutable are messages that the exchange led nowhere, Failed messages that made the broker panic.
	Unroutable uint64 `json:"unroutable"`
	Failed     uint64 `json:"failed"`
	// Copies of messages: dropped as a cycle, refused by a full queue, or sent to a queue that ended before they arrived.
	Cycles      uint64 `json:"cycles"`
	Refused     uint64 `json:"refused"`
	LostTargets uint64 `json:"lost_targets"`
	// TooManyCopies are messages that were dropped because the broker has made too many copies of them.
	TooManyCopies uint64 `json:"too_many_copies"`
	// Kept counts attempts after which a message stayed in its queue, to be tried again.
	Kept uint64 `json:"kept"`
}
