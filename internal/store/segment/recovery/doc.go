// Package recovery finds out what the folder of a journal holds, without changing it, and its damage: it reads the
// newest whole checkpoint, replays the log behind it, and reads what lives. The crash argument is in the
// documentation of package segment.
//
// Owns: the folder's files while nobody has the journal open. Check and Dump are for tools.
//
// Mail, states, deadlines: none. A restart loses nothing.
package recovery
