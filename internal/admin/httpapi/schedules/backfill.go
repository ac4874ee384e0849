package schedules

import (
	"encoding/json"
	"strconv"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/storage/parameters"
)

// backfill publishes the runs of a past span, or shows what it would publish.
func backfill(r *request) (any, error) {
	b := parameters.Backfill{Rate: parameters.UsualRate, Overlap: parameters.OverlapAllow}
	preview := false
	for key := range r.fields {
		var err error
		switch key {
		case "name":
		case "from":
			b.From, err = r.date(key)
		case "to":
			b.To, err = r.date(key)
		case "rate":
			if b.Rate, err = strconv.Atoi(r.text(key)); err != nil {
				err = rest.Complaint("rate is not a number")
			}
		case "overlap":
			b.Overlap = parameters.Overlap(r.text(key))
		case "preview":
			if json.Unmarshal([]byte(r.text(key)), &preview) != nil {
				err = rest.Complaint("preview is not true or false")
			}
		default:
			err = rest.Complaintf("unknown key '%s'", key)
		}
		if err != nil {
			return nil, err
		}
	}
	runs, found, err := r.broker.Backfill(r, r.user, r.vhost, r.name, b, preview)
	if err := r.found(found, err); err != nil {
		return nil, err
	}
	s, err := r.find()
	if err != nil {
		return nil, err
	}
	return map[string]any{"runs": runs, "preview": preview, "seconds": float64(runs) / float64(b.Rate), "first": upcomingOf(s.Spec, b.From-1, min(runs, 10))}, nil
}

func cancelBackfill(r *request) (any, error) {
	return nil, r.found(r.broker.CancelBackfill(r, r.user, r.vhost, r.name))
}
