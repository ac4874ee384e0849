package httpapi

import "slices"

// routes returns all that the API has: the tables of its sections.
func routes() []route {
	return slices.Concat(definitionRoutes, topologyRoutes, clientRoutes, messageRoutes, nodeRoutes)
}
