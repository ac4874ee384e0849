// Package recovery reads the folder of a journal without changing it, and finds its damage: it reads the newest
// complete checkpoint, replays the log after it, and reads the live messages. The crash argument is in the
// documentation of package segment.
//
// Owns: the folder's files while nobody has the journal open. Check and Dump are for tools.
//
// Mail, states, deadlines: none. A restart loses nothing.
package recovery
