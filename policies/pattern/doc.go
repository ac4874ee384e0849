// Package pattern has the Perl-compatible regular expressions of policies and permissions.
//
// Owns: nothing. A Pattern is compiled once and searched in names; it counts how often that took too long.
//
// Go's engine does all that it can, in linear time; the rest goes to a backtracking engine with a time limit (POL-2).
// An invalid expression is refused in the words of RabbitMQ's engine, with its offset (POL-14).
package pattern
