// Package flaghelp prints the help and the errors of flag sets: help to standard output, flags with two dashes.
//
// Owns: nothing; its functions print what a flag set holds. Mail, states, deadlines: none. A restart loses nothing.
package flaghelp
