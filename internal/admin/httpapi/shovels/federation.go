package shovels

import (
	"encoding/json"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/text/redact"
)

// linkItem is the JSON form of a federation upstream, in place of its links, which do not exist, as federation does not
// run here. It has the fields of a failed link.
type linkItem struct {
	Node     string `json:"node"`
	VHost    string `json:"vhost"`
	Upstream string `json:"upstream"`
	URI      any    `json:"uri"`
	Status   string `json:"status"`
	Error    string `json:"error"`
}

// links are the upstreams, all of them down.
var links = rest.Resource[linkItem]{
	Items: func(r *rest.Request) ([]linkItem, error) {
		items := []linkItem{}
		for _, p := range r.Broker.Parameters(r.VHost) {
			if p.Component == parameters.Upstream && r.Sees(p.VHost) {
				items = append(items, linkItem{r.Node, p.VHost, p.Name, addressOf(p.Value), "not_running", parameters.NoFederation})
			}
		}
		return items, nil
	},
	Name: func(i *linkItem) string { return i.Upstream },
}

// addressOf returns the address, or the list of addresses, of an upstream without secrets.
func addressOf(upstream json.RawMessage) any {
	var value struct{ URI any }
	_ = json.Unmarshal(redact.JSON(upstream), &value) // it was validated
	return value.URI
}
