// Package suggest suggests known words for an unknown one: a verb, a setting.
//
// Owns: nothing; its one function is pure. Mail, states, deadlines: none. A restart loses nothing.
package suggest
