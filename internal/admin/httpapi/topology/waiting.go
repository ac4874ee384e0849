package topology

import (
	"cmp"
	"slices"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// expiringItem is the form of a queue with messages that expire.
type expiringItem struct {
	Name  string `json:"name"`
	VHost string `json:"vhost"`
	forms.Expiring
}

// expirationsItem is the form of when messages of several queues expire: of all of them, and of each, page by page.
type expirationsItem struct {
	forms.Expiring
	Queues any `json:"queues"`
}

// leaseItem is the form of a queue that ends when unused.
type leaseItem struct {
	Name      string  `json:"name"`
	VHost     string  `json:"vhost"`
	Period    int64   `json:"expires_after_ms"`
	Ends      *string `json:"lease_expires_at"`
	Renewed   *string `json:"lease_renewed_at"`
	By        *string `json:"lease_renewed_by"`
	Consumers int     `json:"consumers"`
	Messages  int     `json:"messages"`
}

// expirations adds up when messages expire, of one virtual host, or of all that the user may see, and lists the queues, the next
// deadline first.
func expirations(r *rest.Request) (any, error) {
	all, err := r.Broker.Expiring(r.Context(), r.VHost)
	if err != nil {
		return nil, err
	}
	sortBy(all, func(q *management.Queue) int64 { return q.Expiring.Next })
	var sum management.ExpiryCounts
	visible := func(q *management.Queue) bool { return r.Sees(q.VHost) && q.Expiring.Count > 0 }
	for i := range all {
		if visible(&all[i]) {
			sum.Add(all[i].Expiring)
		}
	}
	r.PageByDefault()
	queues, err := rest.ListForms(r, all, nil, visible, func(q *management.Queue) expiringItem {
		return expiringItem{q.Name, q.VHost, forms.ExpiringOf(&q.Expiring)}
	}, func(q *management.Queue) string { return q.Name })
	return expirationsItem{forms.ExpiringOf(&sum), queues}, err
}

// leases lists queues that end when unused, the next to end first, and queues in use last.
func leases(r *rest.Request) (any, error) {
	all, err := r.Broker.Leased(r.Context(), r.VHost)
	sortBy(all, func(q *management.Queue) int64 { return q.Lease.Ends })
	visible := func(q *management.Queue) bool { return r.Sees(q.VHost) && q.Lease.Period > 0 }
	r.PageByDefault()
	return rest.ListForms(r, all, err, visible, func(q *management.Queue) leaseItem {
		return leaseItem{
			Name: q.Name, VHost: q.VHost, Period: q.Lease.Period, Ends: forms.Optional(q.Lease.Ends), Renewed: forms.Optional(q.Lease.Renewed),
			By: forms.OrNull(q.Lease.By), Consumers: q.Consumers, Messages: q.Ready + q.Unacked,
		}
	}, func(q *management.Queue) string { return q.Name })
}

// sortBy sorts queues by a time, queues without one last, and then by their names.
func sortBy(all []management.Queue, at func(*management.Queue) int64) {
	slices.SortFunc(all, func(a, b management.Queue) int {
		x, y := at(&a), at(&b)
		if (x == 0) != (y == 0) {
			return cmp.Compare(y, x)
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name))
	})
}
