// Package rules has queues behind rules of topics, for tests of what copies cost.
//
// Owns: nothing.
package rules
