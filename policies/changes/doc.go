// Package changes previews policy changes (the objects affected, the policies they lose, the settings that change) and
// records made changes so that they can be undone.
//
// Owns: nothing; it compares sets, and a Log is a value. Mail, states, deadlines: none. A restart loses nothing: a Change is
// stored as its JSON.
package changes
