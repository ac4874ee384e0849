package policies

import (
	"strings"
	"testing"

	"candlemark/protocol"
)

// TestOrder_TTL4: of several invalid arguments the first in this order is reported, for any order in the table.
func TestOrder_TTL4(t *testing.T) {
	wrong := []protocol.Field{
		{Key: "x-dead-letter-exchange", Value: int32(1)}, // by its type, before all others (DL-2)
		{Key: "x-queue-type", Value: "foo"},
		{Key: "x-expires", Value: int32(0)},
		{Key: "x-message-ttl", Value: int32(-1)},
		{Key: "x-dead-letter-routing-key", Value: "k"}, // without an exchange
		{Key: "x-max-length", Value: int32(-1)},
		{Key: "x-max-length-bytes", Value: int32(-1)},
		{Key: "x-max-priority", Value: int32(256)},
		{Key: "x-overflow", Value: "foo"},
		{Key: "x-queue-version", Value: int32(9)},
		{Key: "x-single-active-consumer", Value: "yes"},
	}
	for first := range wrong {
		for _, turned := range []bool{false, true} {
			var args protocol.Table
			for i := first; i < len(wrong); i++ {
				if turned {
					args = append(protocol.Table{wrong[i]}, args...)
				} else {
					args = append(args, wrong[i])
				}
			}
			args = append(args, protocol.Field{Key: "x-delivery-limit", Value: int32(1)}) // for another queue type: last of all (DEC-7)
			err := ValidateQueueArguments("q", "/", args)
			if err == nil || !strings.Contains(err.Text, "arg '"+wrong[first].Key+"'") {
				t.Errorf("%s: %v", wrong[first].Key, err)
			}
		}
	}
	quorum := table("x-dead-letter-strategy", "never", "x-dead-letter-exchange", "x", "x-queue-type", "quorum", "x-max-length", int32(-1))
	if err := ValidateQueueArguments("q", "/", quorum); err == nil || !strings.Contains(err.Text, "arg 'x-dead-letter-strategy'") {
		t.Errorf("the strategy comes before x-max-length: %v", err)
	}
}
