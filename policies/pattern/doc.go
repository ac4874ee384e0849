// Package pattern provides the Perl-compatible regular expressions of policies and permissions.
//
// Owns: nothing. A Pattern is compiled once and searched in names.
//
// Go's engine, which takes linear time, handles everything it can; the rest is matched by
// backtracking with a limit of steps (POL-2). An invalid expression is refused in the words of RabbitMQ's engine, with its offset (POL-14).
package pattern
