package policies

import (
	"strings"
	"testing"

	"candlemark/protocol"
)

// TestRouted_DL1 asserts the route to the dead-letter queue, and which queues have none.
func TestRouted_DL1(t *testing.T) {
	plain := SettingsFor(table("x-dead-letter-queue", true), Effective{})
	for _, tt := range []struct {
		name, queue string
		q           QueueSettings
		to          string
	}{
		{"has one", "orders", plain, "orders.dlq"},
		{"is one by its name", "orders.dlq", plain, ""},
		{"name too long", strings.Repeat("q", 252), plain, ""},
		{"longest name", strings.Repeat("q", 251), plain, strings.Repeat("q", 251) + ".dlq"},
		{"not asked for", "orders", none, ""},
		{"an exchange wins", "orders", SettingsFor(table("x-dead-letter-queue", true, "x-dead-letter-exchange", "dlx"), Effective{}), ""},
	} {
		got := tt.q.Routed(tt.queue)
		want := tt.q
		want.DeadLetterQueue = false
		if tt.to != "" {
			want.DeadLetterQueue, want.HasDLX, want.HasDLK, want.DeadLetterRoutingKey = true, true, true, tt.to
		}
		if got != want {
			t.Errorf("%s: %+v\nwant %+v", tt.name, got, want)
		}
	}
	if DeadLettersFrom(DeadLetterQueueArguments("orders")) != "orders" || DeadLettersFrom(table("x-max-length", int32(1))) != "" {
		t.Error("the mark of a dead-letter queue")
	}
}

// TestDuplicateWindow_DUP1: the lower of argument and policy is used; without either there is no window.
func TestDuplicateWindow_DUP1(t *testing.T) {
	if s := SettingsFor(nil, Effective{}); s.DuplicateWindow != 0 {
		t.Errorf("%d without a window", s.DuplicateWindow)
	}
	args := protocol.Table{{Key: "x-duplicate-detection-window", Value: int32(5000)}}
	if s := SettingsFor(args, Effective{}); s.DuplicateWindow != 5000 {
		t.Errorf("%d, want 5000", s.DuplicateWindow)
	}
	if err := ValidateQueueArguments("q", "/", WithQueueType(args.Set("x-duplicate-detection-window", int32(-1)), true, false, false, "")); err == nil {
		t.Error("a negative window is accepted")
	}
}
