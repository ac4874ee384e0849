// Package batches counts the outcomes of messages published together.
//
// Owns: the counts. It sends nothing.
package batches
