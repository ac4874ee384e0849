package node

import (
	"net/http"
	"slices"

	"candlemark/internal/admin/httpapi/rest"
)

// featureFlag is the JSON form of a feature flag.
type featureFlag struct {
	Name       string     `json:"name"`
	Desc       string     `json:"desc"`
	DocURL     string     `json:"doc_url"`
	State      string     `json:"state"`
	Stability  string     `json:"stability"`
	Require    string     `json:"require_level"`
	Experiment string     `json:"experiment_level"`
	Callbacks  []struct{} `json:"callbacks"`
	ProvidedBy string     `json:"provided_by"`
}

// featureFlags are RabbitMQ's feature flags that concern clients. Clients refuse to work without some of them;
// docs/http-api.md has the meaning of each here.
var featureFlags = fixed(
	func(f *featureFlag) string { return f.Name },
	enabled("classic_queue_type_delivery_support", "Deliveries to consumers of classic queues", "hard"),
	enabled("detailed_queues_endpoint", "Lists of queues omit fields shown only for a single queue", "hard"),
	enabled("direct_exchange_routing_v2", "Routing of direct exchanges by lookup", "hard"),
	enabled("drop_unroutable_metric", "Unroutable messages that were dropped are counted", "hard"),
	enabled("empty_basic_get_metric", "basic.get that found nothing is counted", "hard"),
	enabled("feature_flags_v2", "Feature flags", "hard"),
	enabled("implicit_default_bindings", "Default bindings are not stored", "hard"),
	enabled("message_containers", "One message format for all protocols", "hard"),
	enabled("message_containers_deaths_v2", "One x-death entry per queue and reason", "soft"),
	enabled("quorum_queue", "Queues of type quorum", "hard"),
	enabled("rabbit_exchange_type_local_random", "Exchanges of type x-local-random", "soft"),
	enabled("rabbitmq_4.0.0", "Level of RabbitMQ 4.0", "soft"),
	enabled("rabbitmq_4.1.0", "Level of RabbitMQ 4.1", "soft"),
	enabled("rabbitmq_4.2.0", "Level of RabbitMQ 4.2", "soft"),
	enabled("rabbitmq_4.3.0", "Level of RabbitMQ 4.3", "none"),
	enabled("stream_queue", "Queues of type stream are known, and refused", "hard"),
	enabled("user_limits", "Limits of users", "hard"),
	enabled("virtual_host_metadata", "Description, tags and default queue type of virtual hosts", "hard"),
)

// enableFeature accepts enabled flags, which all are.
func enableFeature(r *rest.Request) (any, error) {
	flags, err := featureFlags.Items(r)
	if _, err = rest.Find(flags, err, func(f *featureFlag) bool { return f.Name == r.Name }); err != nil {
		return nil, rest.Complaint("unsupported")
	}
	return nil, nil
}

// fixed returns a list of objects that never change.
func fixed[T any](name func(*T) string, items ...T) rest.Resource[T] {
	return rest.Resource[T]{Items: func(*rest.Request) ([]T, error) { return slices.Clone(items), nil }, Name: name}
}

// enabled returns a flag; require is what RabbitMQ demands of a node that joins a cluster: hard, soft or none.
func enabled(name, desc, require string) featureFlag {
	stability := "required"
	if require == "none" {
		stability = "stable"
	}
	return featureFlag{
		Name: name, Desc: desc, State: "enabled", Stability: stability, Require: require, Experiment: "supported",
		Callbacks: []struct{}{}, ProvidedBy: "rabbit",
	}
}

// deprecated is the JSON form of a deprecated feature. Two of its fields have unexpected names, as in RabbitMQ.
type deprecated struct {
	Name       string `json:"name"`
	State      string `json:"state"`
	Desc       string `json:"desc"`
	Phase      string `json:"deprecation_phase"`
	DocURL     string `json:"doc_url"`
	ProvidedBy string `json:"provided_by"`
}

var deprecatedFeatures = fixed(
	func(f *deprecated) string { return f.Name },
	deprecated{"queue_master_locator", "permitted", "", "permitted_by_default", "", "rabbit"},
	deprecated{"global_qos", "permitted", "", "permitted_by_default", "", "rabbit"},
	deprecated{"transient_nonexcl_queues", "permitted", "", "permitted_by_default", "", "rabbit"},
	deprecated{"classic_queue_mirroring", "denied", "", "removed", "", "rabbit"},
)

// adminScript is served where RabbitMQ serves its rabbitmqadmin, for clients that download that.
const adminScript = `#!/bin/sh
echo "Candlemark has no rabbitmqadmin of its own: use rabbitmqadmin 2 of the RabbitMQ project, or the script of RabbitMQ 3.x." >&2
exit 1
`

func handOut(*rest.Request) (any, error) {
	return rest.Stream(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(adminScript)) // the client may have gone
	}), nil
}
