package queries

import (
	"context"

	"candlemark/actors/system/mail"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// PauseQueue implements management.Messages, and publishes the event (PAUSE-4).
func (qs *Queries) PauseQueue(ctx context.Context, by management.Asker, at management.Place, change management.PauseChange) (management.Pause, error) {
	if err := qs.mayChange(by, at); err != nil {
		return management.Pause{}, err
	}
	m := mail.PauseQueue{Until: mail.PauseForEver, Resume: change.Resume}
	if change.Until != nil {
		m.Until = dateOf(qs.cfg.Asker.Clock, *change.Until)
	}
	answer, _, err := askOne[*mail.PauseQueueReply](ctx, qs, by, at, func(r mail.Request) any {
		m.Request, m.Queue, m.VHost = r, at.Name, at.VHost
		return &m
	})
	if err != nil {
		return management.Pause{}, err
	}
	name, fields := "queue.resumed", protocol.Table{{Key: "name", Value: at.Name}, {Key: "vhost", Value: at.VHost}}
	if !m.Resume {
		name = "queue.paused"
		if m.Until != mail.PauseForEver {
			fields = append(fields, protocol.Field{Key: "until_ms", Value: m.Until})
		}
	}
	qs.publish(ctx, events.OriginOf(ctx).Declared(false), name, at.VHost, fields)
	return management.Pause{Is: answer.Paused, Until: answer.Until}, nil
}
