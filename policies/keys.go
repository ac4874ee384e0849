package policies

import (
	"encoding/json"
	"regexp"
	"slices"

	"candlemark/policies/retry"
)

// The policy keys that several files name.
const (
	keyMessageTTL         = "message-ttl"
	keyExpires            = "expires"
	keyDeadLetterExchange = "dead-letter-exchange"
	keyDeadLetterKey      = "dead-letter-routing-key"
	keyDeadLetterStrategy = "dead-letter-strategy"
	keyMaxLength          = "max-length"
	keyMaxLengthBytes     = "max-length-bytes"
	keyOverflow           = "overflow"
	keyDeliveryLimit      = "delivery-limit"
	keyConsumerTimeout    = "consumer-timeout"
	keyAlternateExchange  = "alternate-exchange"
	keyMaxPriority        = "max-priority"
	keySingleActive       = "single-active-consumer"
	keySessions           = "sessions"
	keyRetryType          = "delayed-retry-type"
	keyRetryMin           = "delayed-retry-min"
	keyRetryMax           = "delayed-retry-max"

	// Candlemark's own; RabbitMQ does not know them.
	keyExpiryOrder    = "expiry-order"
	keyRetroactiveTTL = "message-ttl-retroactive"
	keyExpiresIfEmpty = "expires-if-empty"
	keyExpiresToDLX   = "expires-dead-letters-backlog"
	keyDeathCount     = "dead-letter-count"
	keyDeathContinue  = "dead-letter-continue"
	keyDelayed        = "delayed-messages"
	keyDeliverAt      = "deliver-at-header"
	keyOverdue        = "overdue-messages"
	keyReleaseRate    = "release-rate"
	keyStampExpiry    = "stamp-expiry"
	keyExpiresAt      = "expires-at-header"
	keyDeathOfExpired = "dead-letter-expired"
	keyDeathOfFailed  = "dead-letter-failed-rules"
	keyDeathQueue     = "dead-letter-queue"
	keyForwardTo      = "forward-to"
	keyRenewedBy      = "expires-renewed-by"
	keyDuplicates     = "duplicate-detection-window"
	keyPausedUntil    = "paused-until"
	keyRetryFactor    = "delayed-retry-multiplier" // LavinMQ's
	keyRetryLadder    = "delayed-retry-ladder"
	keyRetryJitter    = "delayed-retry-jitter"
	keyDeliverAfter   = "deliver-after"
	keyRequests       = "expired-requests"
)

// The string values that have a meaning here.
const (
	expiryOrderEager   = "eager"
	expiryOrderStrict  = "strict"
	overflowDropHead   = "drop-head"
	overflowReject     = "reject-publish"
	overflowRejectDLX  = "reject-publish-dlx"
	strategyMostOnce   = "at-most-once"
	strategyLeastOnce  = "at-least-once"
	locatorClientLocal = "client-local"
	deliverAfterCommit = "commit"
	answerRequests     = "answer"
)

// The values of the setting for scheduled messages that came due while the broker was down.
const (
	OverdueDeliver    = "deliver"
	OverdueDeadLetter = "dead-letter"
	OverdueDrop       = "drop"
)

func isString(v any) bool { _, ok := v.(string); return ok }
func isBool(v any) bool   { _, ok := v.(bool); return ok }
func isInt(v any) bool    { _, ok := integer(v); return ok }

// The words that are values, in the order of lists.
var (
	strategies = []string{strategyMostOnce, strategyLeastOnce}
	overflows  = []string{overflowDropHead, overflowReject, overflowRejectDLX}
	retries    = []string{retry.All, retry.Failed, retry.Returned, retry.Disabled}
	locators   = []string{locatorClientLocal, "balanced", "random", "least-leaders"}
	afters     = []string{"write", deliverAfterCommit}
	requests   = []string{"drop", answerRequests}
	orders     = []string{expiryOrderEager, expiryOrderStrict}
	overdue    = []string{OverdueDeliver, OverdueDeadLetter, OverdueDrop}
)

// isHeaderName accepts valid names of AMQP headers.
func isHeaderName(v any) bool {
	s, ok := v.(string)
	return ok && s != "" && len(s) <= 255
}

// atLeast accepts integers from low on, without upper bound (TTL-8).
func atLeast(low int64) func(any) bool {
	return func(v any) bool {
		n, ok := integer(v)
		return ok && n >= low
	}
}

func between(low, high int64) func(any) bool {
	return func(v any) bool {
		n, ok := integer(v)
		return ok && n >= low && n <= high
	}
}

func oneOf(values ...string) func(any) bool {
	return func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(values, s)
	}
}

var age = regexp.MustCompile(`^[0-9]*[1-9][0-9]*[YMDhms]$`)

func isAge(v any) bool {
	s, ok := v.(string)
	return ok && age.MatchString(s)
}

func operatorWins(_, operator any) any { return operator }

func lowest(user, operator any) any {
	if compareNumbers(user.(json.Number), operator.(json.Number)) <= 0 {
		return user
	}
	return operator
}

func highest(user, operator any) any {
	if compareNumbers(user.(json.Number), operator.(json.Number)) >= 0 {
		return user
	}
	return operator
}

// lowestLimit returns the lower delivery limit. A negative one means unlimited: then the higher value is the limit.
func lowestLimit(user, operator any) any {
	u, _ := integer(user)
	o, _ := integer(operator)
	if u < 0 || o < 0 {
		return highest(user, operator)
	}
	return lowest(user, operator)
}
