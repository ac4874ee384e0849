// Package parameters defines the parameters of components that are plugins of RabbitMQ: shovels, and the upstreams of
// federation. It checks them as RabbitMQ does, with its texts, and reads the definition of a shovel. It is pure: no
// disk, no network, no clock.
//
//	validate.go  is a value good?          rules.go  which keys a component has
//	shovel.go    what a shovel is to do    uri.go    where a broker is
//
// Holds: a value has at most MaxValue bytes, a component at most MaxOf parameters in a virtual host; both are checked here and in
// the package definitions, which keeps parameters.
package parameters
