// Package window counts how much the two sides of a session may send each other: transfers of the session, and
// messages of a link.
//
// Owns: the numbers. It sends nothing.
package window
