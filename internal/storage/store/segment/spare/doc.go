// Package spare keeps files ready for the next segments of the journal, so that the log waits for a new file only when
// the disk is full.
//
// Owns: Stock, the files named spare-N. One is always kept for moves, which free others.
//
// States: with room, short (reported by Config.Full), failed (the journal is being closed
// and there is no room).
//
// Deadlines: a full disk is tried again at intervals (Run).
//
// Mail: none. A restart loses nothing: the files are found again.
package spare
