// Package changes says what a change of policies does before it is made: which objects it hits, which policies they lose,
// and which of their settings become others.
//
// Owns: nothing; it compares two sets. Mail, states, deadlines: none. A restart loses nothing.
package changes
