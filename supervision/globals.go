package supervision

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"

	"candlemark/internal/definitions"
	"candlemark/internal/management"
)

// clusterID is the global parameter that tells data folders apart: each has one
// of its own, for good.
const clusterID = "internal_cluster_id"

// loadGlobals begins with the global parameters that were stored.
func (n *Node) loadGlobals(stored []definitions.Global) error {
	n.globals = definitions.NewGlobals(n.cfg.Meta, stored)
	if n.globals.All()[clusterID] != nil {
		return nil
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	text, err := json.Marshal("rabbitmq-cluster-id-" + base64.RawURLEncoding.EncodeToString(id[:]))
	if err == nil {
		_, err = n.globals.Put(clusterID, text)
	}
	return err
}

// Globals implements management.Definitions.
func (n *Node) Globals() map[string]json.RawMessage { return n.globals.All() }

// PutGlobal implements management.Definitions.
func (n *Node) PutGlobal(name string, value json.RawMessage) (created bool, err error) {
	return n.globals.Put(name, value)
}

// DeleteGlobal implements management.Definitions.
func (n *Node) DeleteGlobal(name string) (found bool, err error) { return n.globals.Delete(name) }

// clusterName is the broker's, that of the node unless it was given one.
func (n *Node) clusterName() string {
	var name string
	if value := n.globals.All()[management.ClusterName]; value == nil || json.Unmarshal(value, &name) != nil {
		return n.cfg.Name
	}
	return name
}
