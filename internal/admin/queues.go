package admin

import (
	"net/http"

	"candlemark/policies"
)

// queueItem is the JSON form of a queue, as in the lists of RabbitMQ.
type queueItem struct {
	Arguments      object              `json:"arguments"`
	AutoDelete     bool                `json:"auto_delete"`
	Consumers      int                 `json:"consumers"`
	Durable        bool                `json:"durable"`
	Effective      policies.Definition `json:"effective_policy_definition"`
	Exclusive      bool                `json:"exclusive"`
	BytesReady     int64               `json:"message_bytes_ready"`
	Messages       int                 `json:"messages"`
	Ready          int                 `json:"messages_ready"`
	Unacked        int                 `json:"messages_unacknowledged"`
	Name           string              `json:"name"`
	OperatorPolicy *string             `json:"operator_policy"`
	Policy         *string             `json:"policy"`
	State          string              `json:"state"`
	Type           string              `json:"type"`
	VHost          string              `json:"vhost"`
}

func item(q *Queue) queueItem {
	return queueItem{
		Arguments: object(q.Arguments), AutoDelete: q.AutoDelete, Consumers: q.Consumers, Durable: q.Durable,
		Effective: q.Effective.Definition, Exclusive: q.Exclusive, BytesReady: q.ReadyBytes,
		Messages: q.Ready + q.Unacked, Ready: q.Ready, Unacked: q.Unacked, Name: q.Name,
		OperatorPolicy: orNull(q.Effective.OperatorPolicy), Policy: orNull(q.Effective.Policy),
		State: q.State, Type: q.Type, VHost: q.VHost,
	}
}

// orNull is the form of the name of a policy: null for none (POL-11).
func orNull(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

// queues lists those of one virtual host, or of all that the user may see.
func (a *api) queues(r *request) {
	if r.vhost != "" && !a.exists(r) {
		return
	}
	list, err := a.broker.Queues(r.Context(), r.vhost)
	if err != nil {
		a.refuse(r, err)
		return
	}
	items := make([]queueItem, 0, len(list))
	for i := range list {
		if a.sees(r.user, list[i].VHost) {
			items = append(items, item(&list[i]))
		}
	}
	answer(r.w, http.StatusOK, items)
}

func (a *api) queue(r *request) {
	q, err := a.broker.Queue(r.Context(), r.vhost, r.name)
	if err != nil {
		a.refuse(r, err)
		return
	}
	answer(r.w, http.StatusOK, item(&q))
}
