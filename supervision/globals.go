package supervision

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"slices"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/text/jsonencode"
	"candlemark/internal/text/redact"
	"candlemark/protocol"
	"candlemark/supervision/shovels"
)

// clusterID is the global parameter that identifies a data folder; it is unique and never changes.
const clusterID = "internal_cluster_id"

// load loads the stored global parameters.
func (k *parameterKeeper) load(meta definitions.Store, stored []definitions.Global) error {
	k.globals = definitions.NewGlobals(meta, stored)
	if k.globals.All()[clusterID] != nil {
		return nil
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	text, err := json.Marshal("rabbitmq-cluster-id-" + base64.RawURLEncoding.EncodeToString(id[:]))
	if err == nil {
		_, err = k.globals.Put(clusterID, text)
	}
	return err
}

// parameterKeeper keeps the parameters of a node, and publishes events of their changes.
type parameterKeeper struct {
	*shovels.Shovels
	globals *definitions.Globals
	events  *events.Hub
	node    string // its name
}

// Events implements management.Host.
func (k *parameterKeeper) Events() *events.Hub { return k.events }

// Globals implements management.Definitions.
func (k *parameterKeeper) Globals() map[string]json.RawMessage { return k.globals.All() }

// PutGlobal implements management.Definitions.
func (k *parameterKeeper) PutGlobal(ctx context.Context, name string, value json.RawMessage) (created bool, err error) {
	before := k.globals.All()[name]
	if created, err = k.globals.Put(name, value); err == nil {
		k.parameterEvent(ctx, "parameter.set", parameters.Parameter{Name: name}, before, value)
	}
	return created, err
}

// DeleteGlobal implements management.Definitions.
func (k *parameterKeeper) DeleteGlobal(ctx context.Context, name string) (found bool, err error) {
	before := k.globals.All()[name]
	if found, err = k.globals.Delete(name); found && err == nil {
		k.parameterEvent(ctx, "parameter.cleared", parameters.Parameter{Name: name}, before, nil)
	}
	return found, err
}

// PutParameter implements management.Definitions.
func (k *parameterKeeper) PutParameter(ctx context.Context, p parameters.Parameter) (created bool, err error) {
	before, after, err := k.Shovels.PutParameter(ctx, p)
	if err == nil {
		k.parameterEvent(ctx, "parameter.set", p, before, after)
	}
	return before == nil, err
}

// ChangeParameter changes a parameter, known by its names, by a function of its value. Found reports whether there is one.
func (k *parameterKeeper) ChangeParameter(ctx context.Context, p parameters.Parameter, change func(json.RawMessage) (json.RawMessage, error)) (found bool, err error) {
	before, after, found, err := k.Shovels.ChangeParameter(ctx, p, change)
	if found && err == nil {
		k.parameterEvent(ctx, "parameter.set", p, before, after)
	}
	return found, err
}

// DeleteParameter implements management.Definitions.
func (k *parameterKeeper) DeleteParameter(ctx context.Context, p parameters.Parameter) (found bool, err error) {
	before, found, err := k.Shovels.DeleteParameter(ctx, p)
	if found && err == nil {
		k.parameterEvent(ctx, "parameter.cleared", p, before, nil)
	}
	return found, err
}

// publicGlobals are the global parameters whose values are recorded. Others may be anything, also secrets (ACC-11).
var publicGlobals = []string{"cluster_name", "cluster_tags", clusterID}

// recorded returns the value of a parameter as events have it, without secrets. Component "" stands for global
// parameters.
func recorded(component, name string, value json.RawMessage) json.RawMessage {
	if component == "" && !slices.Contains(publicGlobals, name) {
		return jsonencode.Marshal(redact.Mark)
	}
	if component == parameters.Schedule { // who reads events may not read its message (REC-12)
		value = parameters.WithoutMessage(value)
	}
	return redact.JSON(value)
}

// parameterEvent publishes the event of a change of a parameter of a component, or of a global parameter if component is
// "". There is no before of a new parameter, and no after of a deleted one.
func (k *parameterKeeper) parameterEvent(ctx context.Context, event string, p parameters.Parameter, before, after json.RawMessage) {
	by := events.OriginOf(ctx)
	k.events.Publish(by.Asked(), func() *events.Event {
		e := &events.Event{Name: event, VHost: p.VHost, By: by, Fields: protocol.Table{{Key: "name", Value: p.Name}}}
		if p.Component != "" {
			e.Fields = append(protocol.Table{{Key: "component", Value: p.Component}, {Key: "vhost", Value: p.VHost}}, e.Fields...)
		}
		if after != nil {
			e.Fields = append(e.Fields, protocol.Field{Key: "value", Value: string(recorded(p.Component, p.Name, after))})
		}
		if before != nil {
			e.Before = recorded(p.Component, p.Name, before)
		}
		return e
	})
	if p.Component == parameters.Schedule {
		k.scheduleEvents(by, p, before, after)
	}
}

// clusterName returns the name of the cluster, which is the node's if none is set.
func (k *parameterKeeper) clusterName() string {
	name := k.node
	if value := k.globals.All()[management.ClusterName]; value != nil {
		_ = json.Unmarshal(value, &name) // another value is no name
	}
	return name
}
