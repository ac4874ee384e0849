// Package format encodes and decodes the batches and records of a segment of the journal, and walks through the batches
// of a segment, even a damaged one. It does not know which messages are live.
//
// Owns: the window of a Walker. Mail, states, deadlines: none.
//
// A restart loses nothing: format.go documents the bytes, and old versions are read.
package format
