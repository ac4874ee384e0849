package definitionfile

import "candlemark/internal/admin/httpapi/rest"

// Routes are about definitions as a whole.
var Routes = []rest.Route{
	rest.Get("/api/definitions", rest.Administrator, exportAll).Slow().Large(),
	rest.Post("/api/definitions", rest.Administrator, post).Slow().Import(),
	rest.Get("/api/all-configuration", rest.Administrator, exportAll).Slow().Large(), // RabbitMQ's name of old
	rest.Post("/api/all-configuration", rest.Administrator, post).Slow().Import(),
	rest.Get("/api/definitions/{vhost}", rest.Administrator, exportOne).Slow().Large(),
	rest.Post("/api/definitions/{vhost}", rest.ChangesVHost(rest.Administrator), post).Slow().Import(),
}
