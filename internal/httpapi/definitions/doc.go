// Package definitions is the section of the HTTP API about what is stored of the broker's definitions: users and
// their permissions, virtual hosts, policies, parameters, limits. Queues, exchanges and bindings are in topology.
package definitions
