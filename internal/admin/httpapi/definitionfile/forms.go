package definitionfile

import (
	"encoding/json"

	"candlemark/internal/access/sas"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/policies"
)

// The JSON forms of an export, keys in RabbitMQ's order. Items of one virtual host do not name it.
type (
	head struct {
		Rabbit         string `json:"rabbit_version"`
		RabbitMQ       string `json:"rabbitmq_version"`
		ProductName    string `json:"product_name"`
		ProductVersion string `json:"product_version"`
		Format         string `json:"rabbitmq_definition_format"`
	}
	cluster struct {
		head
		Name        string      `json:"original_cluster_name"`
		Explanation string      `json:"explanation"`
		Users       []user      `json:"users"`
		VHosts      []vhost     `json:"vhosts"`
		Grants      []grant     `json:"permissions"`
		Topics      []topic     `json:"topic_permissions"`
		Parameters  []parameter `json:"parameters"`
		Globals     []global    `json:"global_parameters"`
		sections
		own
	}
	single struct {
		head
		Name             string      `json:"original_vhost_name"`
		Explanation      string      `json:"explanation"`
		Metadata         metadata    `json:"metadata"`
		Description      string      `json:"description"`
		DefaultQueueType string      `json:"default_queue_type"`
		Limits           auth.Limits `json:"limits"`
		Parameters       []parameter `json:"parameters"`
		sections
		own
	}
	objects struct {
		Policies  []policy
		Queues    []queue
		Exchanges []exchange
		Bindings  []binding
		place     []byte // stands for each list in the sections
	}
	// sections are objects, most of them only by the place where they are written (pieces).
	sections struct {
		Policies  []policy        `json:"policies"`
		Queues    json.RawMessage `json:"queues"`
		Exchanges json.RawMessage `json:"exchanges"`
		Bindings  json.RawMessage `json:"bindings"`
	}
	// own are items that RabbitMQ cannot import. It ignores sections that it does not know.
	own struct {
		OwnParameters []parameter `json:"candlemark_parameters,omitempty"`
		OwnPolicies   []policy    `json:"candlemark_policies,omitempty"`
		OwnExchanges  []exchange  `json:"candlemark_exchanges,omitempty"`
		OwnBindings   []binding   `json:"candlemark_bindings,omitempty"`
	}
	user struct {
		Name      string      `json:"name"`
		Hash      string      `json:"password_hash"`
		Algorithm string      `json:"hashing_algorithm"`
		Tags      []string    `json:"tags"`
		Limits    auth.Limits `json:"limits"`

		Keys sas.Keys `json:"access_keys,omitzero"`
	}
	vhost struct {
		Name             string      `json:"name"`
		Description      string      `json:"description"`
		Limits           auth.Limits `json:"limits"`
		Metadata         metadata    `json:"metadata"`
		Tags             []string    `json:"tags"`
		DefaultQueueType string      `json:"default_queue_type"`
	}
	metadata struct {
		Description      string   `json:"description"`
		Tags             []string `json:"tags"`
		DefaultQueueType string   `json:"default_queue_type"`
		Protected        bool     `json:"protected_from_deletion,omitempty"`
	}
	grant struct {
		User      string `json:"user"`
		VHost     string `json:"vhost"`
		Configure string `json:"configure"`
		Write     string `json:"write"`
		Read      string `json:"read"`
	}
	topic struct {
		User     string `json:"user"`
		VHost    string `json:"vhost"`
		Exchange string `json:"exchange"`
		Write    string `json:"write"`
		Read     string `json:"read"`
	}
	parameter struct {
		Value     any    `json:"value"`
		VHost     string `json:"vhost,omitempty"`
		Component string `json:"component"`
		Name      string `json:"name"`
	}
	policyValue struct {
		Pattern    string              `json:"pattern"`
		Definition policies.Definition `json:"definition"`
		Priority   json.Number         `json:"priority"`
		ApplyTo    string              `json:"apply-to"`
	}
	global struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	policy struct {
		VHost      string              `json:"vhost,omitempty"`
		Name       string              `json:"name"`
		Pattern    string              `json:"pattern"`
		ApplyTo    string              `json:"apply-to"`
		Definition policies.Definition `json:"definition"`
		Priority   json.Number         `json:"priority"`
	}
	queue struct {
		Name       string       `json:"name"`
		VHost      string       `json:"vhost,omitempty"`
		Durable    bool         `json:"durable"`
		AutoDelete bool         `json:"auto_delete"`
		Type       string       `json:"type"`
		Arguments  forms.Object `json:"arguments"`
	}
	exchange struct {
		Name       string       `json:"name"`
		VHost      string       `json:"vhost,omitempty"`
		Type       string       `json:"type"`
		Durable    bool         `json:"durable"`
		AutoDelete bool         `json:"auto_delete"`
		Internal   bool         `json:"internal"`
		Arguments  forms.Object `json:"arguments"`
	}
	binding struct {
		Source      string       `json:"source"`
		VHost       string       `json:"vhost,omitempty"`
		Destination string       `json:"destination"`
		Type        string       `json:"destination_type"`
		RoutingKey  string       `json:"routing_key"`
		Arguments   forms.Object `json:"arguments"`
	}
)
