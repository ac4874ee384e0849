// Package accounts is the section of the HTTP API about the stored definitions of the broker: users and their
// permissions, virtual hosts, policies, parameters, limits. Queues, exchanges and bindings are in topology.
package accounts
