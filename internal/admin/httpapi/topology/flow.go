package topology

import (
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// The JSON forms of how queues send messages on.
type (
	flowItem struct {
		Nodes     []flowNode `json:"nodes"`
		Edges     []flowEdge `json:"edges"`
		Sources   int        `json:"sources"`
		Truncated bool       `json:"truncated"`
	}
	flowNode struct {
		Kind    string `json:"kind"`
		Name    string `json:"name"`
		Type    string `json:"type,omitempty"`
		Missing bool   `json:"missing"`
	}
	flowEdge struct {
		From       int                 `json:"from"` // a place in nodes
		To         int                 `json:"to"`
		Kind       management.FlowKind `json:"kind"`
		Key        *string             `json:"routing_key,omitempty"`
		Unroutable bool                `json:"unroutable,omitempty"`
		Bindings   int                 `json:"bindings,omitempty"`
		Keys       []string            `json:"binding_keys,omitempty"`
		Counts     map[string]uint64   `json:"counts,omitempty"`
	}
)

// flow answers with where queues of a virtual host send messages on to; ?name= filters.
func flow(r *rest.Request) (any, error) {
	f, err := r.Broker.Flow(r.Context(), r.VHost, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	item := flowItem{Nodes: []flowNode{}, Edges: []flowEdge{}, Sources: f.Sources, Truncated: f.Truncated}
	for _, n := range f.Nodes {
		kind := "queue"
		if n.Exchange {
			kind = "exchange"
		}
		item.Nodes = append(item.Nodes, flowNode{kind, n.Name, n.Type, n.Type == ""})
	}
	for i := range f.Edges {
		e := &f.Edges[i]
		edge := flowEdge{From: e.From, To: e.To, Kind: e.Kind, Unroutable: e.Unroutable, Bindings: e.Bindings, Keys: e.Keys, Counts: e.Counts}
		if e.HasKey {
			edge.Key = &e.Key
		}
		item.Edges = append(item.Edges, edge)
	}
	return item, nil
}
