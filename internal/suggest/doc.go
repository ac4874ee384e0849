// Package suggest finds what somebody may have meant by a word that is not known: a verb, a setting.
//
// Owns: nothing; its one function is pure. Mail, states, deadlines: none. A restart loses nothing.
package suggest
