package httpapi

import (
	_ "embed"
	"net/http"
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

// document describes all paths in OpenAPI's form.
//
//go:embed openapi.yaml
var document []byte

// own are paths about the API itself.
var own = []rest.Route{rest.Open("/api/openapi.yaml", describe)}

func describe(*rest.Request) (any, error) {
	return rest.Stream(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(document) // the client may have gone
	}), nil
}

// routes returns all routes of the API: the tables of its sections.
func routes() []rest.Route {
	return slices.Concat(own, definitions.Routes, effects.Routes, topology.Routes, clients.Routes, messages.Routes, node.Routes, exposition.Routes, transfer.Routes, shovels.Routes)
}
