package httpapi

import (
	_ "embed"
	"net/http"
	"slices"

	"candlemark/internal/admin/httpapi/accounts"
	"candlemark/internal/admin/httpapi/clients"
	"candlemark/internal/admin/httpapi/definitionfile"
	"candlemark/internal/admin/httpapi/effects"
	"candlemark/internal/admin/httpapi/exposition"
	"candlemark/internal/admin/httpapi/messages"
	"candlemark/internal/admin/httpapi/node"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/httpapi/schedules"
	"candlemark/internal/admin/httpapi/shovels"
	"candlemark/internal/admin/httpapi/topology"
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
	return slices.Concat(own, accounts.Routes, effects.Routes, topology.Routes, clients.Routes, messages.Routes, node.Routes, exposition.Routes, definitionfile.Routes, shovels.Routes, schedules.Routes)
}
