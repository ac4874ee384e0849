package topology

import (
	"errors"
	"math/big"

	"candlemark/internal/routing/filter"
	"candlemark/internal/text/erlang"
	"candlemark/protocol"
)

// ValidateBinding checks a new binding from an exchange of type kind to a queue, nil for an exchange, according to the
// type: nil if it is valid, else a 406 channel error with RabbitMQ's text. A headers exchange requires that x-match is
// absent or one of the strings all, any, all-with-x and any-with-x; a consistent-hash exchange a weight as key; an
// exchange of rules a valid rule, with an action only for a queue; a local-random exchange an empty key, and a classic
// queue.
func ValidateBinding(kind string, b Binding, to *Queue) *protocol.ChannelError {
	switch kind {
	case "headers":
		return validateMatch(b.Arguments)
	case ConsistentHashType:
		return validateWeight(b.RoutingKey)
	case filter.ExchangeType:
		rule, err := filter.RuleOf(b.RoutingKey, b.Arguments)
		if err == nil {
			err = rule.Validate()
		}
		if err == nil && rule.Action != "" && to == nil {
			err = errors.New("an action is for queues only")
		}
		if err != nil {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "rule '%s': %v", b.RoutingKey, err)
		}
	case LocalRandomType:
		switch {
		case b.RoutingKey != "":
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "Non empty binding '%s' key not permitted", b.RoutingKey)
		case to == nil:
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "Destination not found")
		case to.Type != "classic":
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "Queue type rabbit_%s_queue not valid for this exchange type", to.Type)
		}
	}
	return nil
}

func validateWeight(key string) *protocol.ChannelError {
	n, is := new(big.Int).SetString(key, 10)
	switch {
	case !is:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "The binding key must be an integer: %s", erlang.Binary(key))
	case n.Sign() < 1:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "The binding key must be greater than 0")
	}
	return nil
}

func validateMatch(args protocol.Table) *protocol.ChannelError {
	switch v, found := args.Get("x-match"); {
	case !found, v == "all", v == "any", v == "all-with-x", v == "any-with-x":
		return nil
	default:
		if _, text := v.(string); text {
			return protocol.ChannelErrorf(protocol.PreconditionFailed,
				"Invalid x-match field value %s; expected all, any, all-with-x, or any-with-x", erlang.Field(v))
		}
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"Invalid x-match field type %s (value %s); expected longstr", protocol.TypeName(v), erlang.Field(v))
	}
}
