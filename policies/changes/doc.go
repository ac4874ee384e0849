// Package changes knows changes of policies: what one does before it is made (which objects it hits, which policies they
// lose, which of their settings become others), and which have been made, to take them back.
//
// Owns: nothing; it compares sets, and a Log is a value. Mail, states, deadlines: none. A restart loses nothing: a Change is
// stored as its JSON.
package changes
