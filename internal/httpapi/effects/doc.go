// Package effects is the section of the HTTP API about what policies do: why an object has those that it has, what a change
// would do, and which changes there were, to take them back. Each path is also a command over AMQP, which Command carries out,
// with the same answers and refusals.
package effects
