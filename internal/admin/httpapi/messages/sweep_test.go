package messages

import (
	"context"
	"testing"

	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// deleted is a broker whose queue is deleted during a command.
type deleted struct{ management.Messages }

func (deleted) ChangeScheduled(context.Context, management.Asker, management.Place, management.ScheduledFilter, *management.When) (management.Swept, error) {
	return management.Swept{Count: 3}, protocol.ChannelErrorf(protocol.NotFound, "no queue 'q' in vhost '/'")
}

// TestSweepEndsEarly_DLY17: the answer says once what has happened, and how many messages were changed before.
func TestSweepEndsEarly_DLY17(t *testing.T) {
	_, err := change(context.Background(), deleted{}, management.Asker{}, management.Place{}, management.ScheduledFilter{CorrelationID: "c"}, nil, nil)
	if err == nil || err.Error() != "channel error 404: NOT_FOUND - no queue 'q' in vhost '/'; before, 3 messages were changed" {
		t.Error(err)
	}
}
