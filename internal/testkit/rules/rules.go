package rules

import (
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Enlarging returns the queue as the target of a rule whose action makes two texts of up to 4,096 bytes.
func Enlarging(q *topology.Queue) *topology.Queue {
	r, _ := topology.NewRoutes("x-rules", nil)
	b := topology.Binding{Destination: q.Name, Arguments: protocol.Table{{Key: "x-rule-action", Value: "SET a = b + b; SET c = a"}}}
	r, _ = r.With(b, topology.Target{Queue: q})
	x := &topology.Exchange{Name: "rules", Type: "x-rules"}
	x.Publish(r)
	router := topology.Router{Properties: func() (protocol.Properties, []byte, int) { return protocol.Properties{}, nil, 0 }}
	return router.Route(topology.NewVHost("/").Directory(), x, nil, nil)[0]
}
