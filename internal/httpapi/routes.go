package httpapi

import (
	"slices"

	"candlemark/internal/httpapi/clients"
	"candlemark/internal/httpapi/definitions"
	"candlemark/internal/httpapi/effects"
	"candlemark/internal/httpapi/exposition"
	"candlemark/internal/httpapi/messages"
	"candlemark/internal/httpapi/node"
	"candlemark/internal/httpapi/rest"
	"candlemark/internal/httpapi/shovels"
	"candlemark/internal/httpapi/topology"
	"candlemark/internal/httpapi/transfer"
)

// routes returns all that the API has: the tables of its sections.
func routes() []rest.Route {
	return slices.Concat(definitions.Routes, effects.Routes, topology.Routes, clients.Routes, messages.Routes, node.Routes, exposition.Routes, transfer.Routes, shovels.Routes)
}
