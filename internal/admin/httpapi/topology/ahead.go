package topology

import (
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// aheadItem is the form of the messages due, by fate and time.
type aheadItem struct {
	Horizons []int64                       `json:"horizons_ms"`
	Counts   map[string]management.Classes `json:"counts"` // by fate; one more than there are horizons
	Next     *deadlineItem                 `json:"next"`
	Queues   int                           `json:"queues"`
	Asked    int                           `json:"queues_asked"`
}

// deadlineItem is the form of the next deadline, with the name of a queue, of an exchange that delays, or of a schedule.
type deadlineItem struct {
	At       string `json:"at"`
	Fate     string `json:"fate"`
	VHost    string `json:"vhost"`
	Queue    string `json:"queue,omitempty"`
	Exchange string `json:"exchange,omitempty"`
	Schedule string `json:"schedule,omitempty"`
}

// ahead counts messages due, of one virtual host, or of all that the user may see.
func ahead(r *rest.Request) (any, error) {
	all, err := r.Broker.Ahead(r.Context())
	if err != nil {
		return nil, err
	}
	item := aheadItem{Horizons: management.AheadHorizons[:], Counts: map[string]management.Classes{}}
	var counts [management.Fates]management.Classes
	var next management.Deadline
	for i := range all {
		a := &all[i]
		if r.VHost != "" && a.VHost != r.VHost || !r.Sees(a.VHost) {
			continue
		}
		for fate := range counts {
			counts[fate].Add(a.Counts[fate])
		}
		next.Earlier(a.Next)
		item.Queues += a.Queues
		item.Asked += a.Asked
	}
	for fate, n := range counts {
		item.Counts[management.Fate(fate).String()] = n
	}
	if next.At != 0 {
		item.Next = &deadlineItem{At: forms.Stamp(next.At), Fate: next.Fate.String(), VHost: next.VHost, Queue: next.Name}
		if next.Exchange {
			item.Next.Queue, item.Next.Exchange = "", next.Name
		}
		if next.Fate == management.ScheduleRuns {
			item.Next.Queue, item.Next.Schedule = "", next.Name
		}
	}
	return item, nil
}
