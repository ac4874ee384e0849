// Package window counts how much each side of a session may send: transfers of the session, and messages of a link.
//
// Owns: the numbers. It sends nothing.
package window
