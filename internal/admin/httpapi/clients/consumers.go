package clients

import (
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// consumers lists the consumers of one virtual host, or of all. Users without the tag monitoring see only their own.
func consumers(r *rest.Request) (any, error) {
	all, err := r.Broker.Consumers(r.Context(), r.VHost)
	visible := func(c *management.Consumer) bool { return r.Owns(c.Connection) }
	return rest.ListForms(r, all, err, visible, forms.ConsumerOf(r.Node), func(c *management.Consumer) string { return c.Tag })
}
