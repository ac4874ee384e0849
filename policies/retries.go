package policies

import (
	"fmt"
	"strings"

	"candlemark/internal/text/erlang"
	"candlemark/policies/retry"
	"candlemark/protocol"
)

// retryPrefix begins the keys of delayed retries.
const retryPrefix = "delayed-retry-"

// retrySettings merges the settings for messages that come back. The type of a policy takes precedence. In a classic queue, as in
// LavinMQ, a minimum is enough (RETRY-6).
func retrySettings(args protocol.Table, e Effective) retry.Settings {
	kind, has := e.Text(keyRetryType)
	if !has {
		kind, _ = stringArgument(args, "x-"+keyRetryType)
	}
	text, _ := textOf(args, e, keyRetryLadder)
	ladder, _ := retry.ParseLadder(text)
	g := retry.Given{
		Type: kind, Ladder: ladder, Any: KindOf(args) != KindQuorumQueue,
		Min: lowestOf(args, e, keyRetryMin), Max: lowestOf(args, e, keyRetryMax),
		Multiplier: lowestOf(args, e, keyRetryFactor), Jitter: lowestOf(args, e, keyRetryJitter),
	}
	return g.Settings()
}

// checkDelayedRetry checks the delayed-retry keys of a policy together.
func checkDelayedRetry(d Definition) string {
	kind, hasKind := d.Get(keyRetryType)
	low, hasLow := d.Get(keyRetryMin)
	high, hasHigh := d.Get(keyRetryMax)
	_, hasLadder := d.Get(keyRetryLadder)
	for _, key := range [...]string{keyRetryMin, keyRetryMax, keyRetryFactor} {
		if _, has := d.Get(key); has && hasLadder {
			return keyRetryLadder + " has all delays: it goes without " + key
		}
	}
	if hasKind && kind != retry.Disabled && !hasLow && !hasLadder {
		return fmt.Sprintf("%s is required when %s is %s", keyRetryMin, keyRetryType, kind)
	}
	if _, has := d.Get(keyRetryFactor); has && !hasLow {
		return keyRetryMin + " is required with " + keyRetryFactor
	}
	if _, has := d.Get(keyRetryJitter); has && !hasLow && !hasLadder {
		return keyRetryMin + " or " + keyRetryLadder + " is required with " + keyRetryJitter
	}
	a, _ := integer(low)
	b, _ := integer(high)
	if hasLow && hasHigh && b < a {
		return fmt.Sprintf("%s (%d) must not be smaller than %s (%d)", keyRetryMax, b, keyRetryMin, a)
	}
	return ""
}

// unsupported returns where a policy with a key of d is skipped (POL-4). With delayed retries a delivery limit also applies to
// classic queues.
func (d Definition) unsupported(key string) kinds {
	k := byName[key].policy.unsupported
	if key != keyDeliveryLimit {
		return k
	}
	for _, e := range d {
		if strings.HasPrefix(e.Key, retryPrefix) {
			k &^= onClassic
		}
	}
	return k
}

// delaysRetries reports whether a queue is declared with delayed retries: then a classic one may have a delivery limit.
func delaysRetries(args protocol.Table) bool {
	for i := range args {
		if strings.HasPrefix(args[i].Key, "x-"+retryPrefix) {
			return true
		}
	}
	return false
}

// isLadderStep reports whether a ladder replaces what the key sets.
func isLadderStep(key string) bool {
	return key == keyRetryMin || key == keyRetryMax || key == keyRetryFactor
}

func isLadder(v any) bool {
	text, ok := v.(string)
	_, err := retry.ParseLadder(text)
	return ok && err == nil
}

func checkRetryLadder(v any, args protocol.Table) string {
	if term := checkString(v, args); term != "" {
		return term
	}
	if _, err := retry.ParseLadder(v.(string)); err != nil {
		return erlang.String(err.Error())
	}
	for _, key := range [...]string{keyRetryMin, keyRetryMax, keyRetryFactor} {
		if _, has := args.Get("x-" + key); has {
			return erlang.String("a ladder has all delays: it goes without x-" + key)
		}
	}
	return ""
}

func checkRetryFactor(v any, args protocol.Table) string {
	if term := checkPositive(v, args); term != "" {
		return term
	}
	if _, has := args.Get("x-" + keyRetryMin); !has {
		return erlang.String("it requires x-" + keyRetryMin)
	}
	return ""
}

func checkRetryJitter(v any, args protocol.Table) string {
	if term := checkRange(v, 0, 100, "value_too_large"); term != "" {
		return term
	}
	_, low := args.Get("x-" + keyRetryMin)
	if _, ladder := args.Get("x-" + keyRetryLadder); !low && !ladder {
		return erlang.String("it requires x-" + keyRetryMin + " or x-" + keyRetryLadder)
	}
	return ""
}
