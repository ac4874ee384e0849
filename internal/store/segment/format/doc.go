// Package format knows how batches and records stand in a segment of the journal: it
// encodes them, decodes them, and walks through the batches of a segment, also of one that
// is damaged. It knows nothing of what lives.
//
// Owns: the window of a Walker. Mail, states, deadlines: none.
//
// A restart loses nothing: format.go says what the bytes mean, and old versions are read.
package format
