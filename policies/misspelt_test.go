package policies

import (
	"fmt"
	"testing"

	"candlemark/protocol"
)

func TestMisspelt_DEC20(t *testing.T) {
	many := protocol.Table{}
	for i := range maxMisspelt {
		many = append(many, protocol.Field{Key: fmt.Sprintf("meta-%d", i), Value: true})
	}
	for _, c := range []struct {
		args         protocol.Table
		given, meant string
	}{
		{table("x-message-ttl", int32(1), "x-queue-type", "quorum", "x-max-priority", int32(1)), "", ""},
		{table("x-mesage-ttl", int32(1)), "x-mesage-ttl", "x-message-ttl"},
		{table("x-expires", int32(1), "message-ttl", int32(1)), "message-ttl", "x-message-ttl"},
		{table(argDeathQueueOf, "q"), "", ""},
		{table("x-dead-letter-exchang", "x"), "x-dead-letter-exchang", "x-dead-letter-exchange"},
		{table("x-match", "all", "team", "orders", "x-quorum-initial-group-size", int32(3), "x-max-age", "1D"), "", ""},
		{append(many, protocol.Field{Key: "x-expire", Value: int32(1)}), "", ""}, // the bound
	} {
		if given, meant := Misspelt(c.args); given != c.given || meant != c.meant {
			t.Errorf("%v: %q, %q, want %q, %q", c.args, given, meant, c.given, c.meant)
		}
	}
}
