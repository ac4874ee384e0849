// Package parameters defines the parameters of components that RabbitMQ has as plugins: shovels, and the upstreams of
// federation. The package checks parameters as RabbitMQ does, with RabbitMQ's texts, and reads the definition of a
// shovel. It is pure: no disk, no network, no clock.
//
//	validate.go  is a value good?          rules.go  which keys a component has
//	shovel.go    what a shovel is to do    uri.go    where a broker is
//
// Holds: a value has at most MaxValue bytes, a component at most MaxOf parameters in a virtual host; both are checked here and in
// the package definitions, which keeps parameters.
package parameters
