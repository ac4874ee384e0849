// Package effects is the section of the HTTP API about what policies do: which apply to an object and why, the effect
// of a change, and the history of changes, to undo them. Each path is also a command over AMQP, which Command executes,
// with the same answers and refusals.
package effects
