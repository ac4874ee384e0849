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
)

// own are the keys that RabbitMQ does not know.
var own = []string{
	keyExpiryOrder, keyRetroactiveTTL, keyExpiresIfEmpty, keyExpiresToDLX, keyDeathCount, keyDeathContinue, keyDelayed, keyDeliverAt, keyOverdue,
	keyReleaseRate, keyStampExpiry, keyExpiresAt, keyDeathOfExpired, keyDeathOfFailed, keyDeathQueue, keyForwardTo, keyRenewedBy, keyDuplicates,
}

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
)

// The values of the setting for scheduled messages that came due while the broker was down.
const (
	OverdueDeliver    = "deliver"
	OverdueDeadLetter = "dead-letter"
	OverdueDrop       = "drop"
)

// A merge decides between the values of a user policy and an operator policy for the same key (POL-7).
type merge func(user, operator any) any

// A key is one recognised policy setting (POL-5).
type key struct {
	valid       func(v any) bool
	text        string // end of the error text, after the invalid value
	unsupported kinds  // a policy with this key is skipped there (POL-4)
	operator    merge  // nil: operator policies may not set it (POL-6)
}

var keys = map[string]key{
	keyMessageTTL:         {atLeast(0), "is not a valid message TTL", onStream, lowest},
	keyExpires:            {atLeast(1), "is not a valid queue expiry", onStream, lowest},
	keyDeadLetterExchange: {isString, "is not a valid dead letter exchange name", onStream, nil},
	keyDeadLetterKey:      {isString, "is not a valid dead letter routing key", onStream, nil},
	keyDeadLetterStrategy: {
		oneOf(strategyMostOnce, strategyLeastOnce),
		"is not a valid dead letter strategy", onClassic | onStream, nil,
	},
	keyMaxLength:           {atLeast(0), "is not a valid maximum length", onStream, lowest},
	keyMaxLengthBytes:      {atLeast(0), "is not a valid maximum length in bytes", 0, lowest},
	"max-in-memory-length": {atLeast(0), "is not a valid maximum memory in bytes", onClassic | onStream, lowest},
	"max-in-memory-bytes":  {atLeast(0), "is not a valid maximum memory in bytes", onClassic | onStream, lowest},
	keyOverflow: {
		oneOf(overflowDropHead, overflowReject, overflowRejectDLX),
		"is not a valid overflow value", onStream, operatorWins,
	},
	keyDeliveryLimit:   {isInt, "is not a valid delivery limit", onClassic | onStream, lowestLimit},
	keyConsumerTimeout: {atLeast(0), "is not a valid consumer timeout", 0, nil},
	"queue-mode":       {oneOf("default", "lazy"), "is not a valid queue-mode value", onQuorum | onStream, nil},
	"queue-version":    {between(1, 2), "is not a valid queue-version value", 0, operatorWins},
	"queue-leader-locator": {
		oneOf(locatorClientLocal, "balanced", "random", "least-leaders"),
		"is not a valid queue leader locator value", 0, nil,
	},
	keyAlternateExchange: {isString, "is not a valid alternate exchange name", 0, nil},
	"target-group-size":  {atLeast(1), "is not a valid qq target count value", onClassic | onStream, highest},

	"max-age":              {isAge, "is not a valid max age", onClassic | onQuorum, nil},
	"initial-cluster-size": {atLeast(0), "is not a valid cluster size", onClassic | onQuorum, nil},
	"stream-max-segment-size-bytes": {
		between(0, 3_000_000_000),
		"is not a valid segment size", onClassic | onQuorum, nil,
	},
	"stream-filter-size-bytes": {between(16, 255), "is not a valid filter size. Valid range is 16-255", 0, nil},

	keyRetryType: {
		oneOf(retry.All, retry.Failed, retry.Returned, retry.Disabled),
		"is not a valid delayed retry type. Must be one of: all, failed, returned, disabled", 0, operatorWins,
	},
	keyRetryMin: {atLeast(1), "is not a valid delayed retry minimum delay. Must be a positive integer", 0, highest},
	keyRetryMax: {atLeast(1), "is not a valid delayed retry maximum delay. Must be a positive integer", 0, lowest},

	"federation-upstream":     {isString, "is not a valid federation upstream name", 0, nil},
	"federation-upstream-set": {isString, "is not a valid federation upstream set name", 0, nil},

	keyExpiryOrder:    {oneOf(expiryOrderEager, expiryOrderStrict), "is not a valid expiry order", onStream, nil},
	keyRetroactiveTTL: {isBool, "is not a valid message-ttl-retroactive value", onStream, nil},
	keyExpiresIfEmpty: {isBool, "is not a valid expires-if-empty value", onStream, nil},
	keyExpiresToDLX:   {isBool, "is not a valid expires-dead-letters-backlog value", onStream, nil},
	keyDeathCount:     {isBool, "is not a valid dead-letter-count value", onStream, nil},
	keyDeathContinue:  {isBool, "is not a valid dead-letter-continue value", onStream, nil},
	keyDelayed:        {isBool, "is not a valid delayed-messages value", onStream, nil},
	keyDeliverAt:      {isHeaderName, "is not a valid deliver-at-header name", onStream, nil},
	keyOverdue: {
		oneOf(OverdueDeliver, OverdueDeadLetter, OverdueDrop),
		"is not a valid overdue-messages value", onStream, nil,
	},
	keyReleaseRate: {atLeast(1), "is not a valid release rate", onStream, nil},

	keyStampExpiry:    {isBool, "is not a valid stamp-expiry value", onStream, nil},
	keyExpiresAt:      {isHeaderName, "is not a valid expires-at-header name", onStream, nil},
	keyDeathOfExpired: {isBool, "is not a valid dead-letter-expired value", onStream, nil},
	keyDeathOfFailed:  {isBool, "is not a valid dead-letter-failed-rules value", onStream, nil},
	keyDeathQueue:     {isBool, "is not a valid dead-letter-queue value", onStream, nil},
	keyForwardTo:      {isString, "is not a valid exchange name to forward to", onStream, nil},
	keyDuplicates:     {atLeast(0), "is not a valid duplicate detection window", onStream, nil},
	keyRenewedBy:      {isRenewals, "is not a valid expires-renewed-by value", onStream, nil},
}

func isString(v any) bool { _, ok := v.(string); return ok }
func isBool(v any) bool   { _, ok := v.(bool); return ok }
func isInt(v any) bool    { _, ok := integer(v); return ok }

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
