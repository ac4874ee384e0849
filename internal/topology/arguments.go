package topology

import (
	"candlemark/internal/erlang"
	"candlemark/protocol"
)

// ValidateBinding checks the arguments of a new binding from an exchange of type kind, as the exchange type would: nil when they are
// good, else a 406 channel error with RabbitMQ's text. Only headers exchanges refuse anything, namely an x-match that is not one of
// the strings all, any, all-with-x and any-with-x; it may be absent.
func ValidateBinding(kind string, args protocol.Table) *protocol.ChannelError {
	if kind != "headers" {
		return nil
	}
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
