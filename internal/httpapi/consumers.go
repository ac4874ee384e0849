package httpapi

// consumers lists those of one virtual host, or of all. Who is no monitor sees
// its own.
func consumers(r *request) (any, error) {
	all, err := r.broker.Consumers(r.Context(), r.vhost)
	visible := func(c *Consumer) bool { return r.owns(c.Connection) }
	return listForms(r, all, err, visible, consumerForm(r.node), func(c *consumerItem) string { return c.Tag })
}
