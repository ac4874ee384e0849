// Package batches counts the outcomes of messages that are published as one.
//
// Owns: the counts. It sends nothing.
package batches
