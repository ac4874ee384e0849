// Package batches counts the outcomes of messages that are published together.
//
// Owns: the counts. It sends nothing.
package batches
