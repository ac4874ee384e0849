// Package recurring runs the recurring schedules of a broker, which are parameters: an actor for each virtual host that has schedules.
//
// Owns: the addresses of the actors. The parameters belong to package definitions.
package recurring
