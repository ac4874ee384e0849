// Package rules has queues behind rules of topics and patterns that take many steps, for tests of what copies and routes cost.
//
// Owns: nothing.
package rules
