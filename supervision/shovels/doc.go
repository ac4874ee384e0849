// Package shovels keeps the parameters of components, and does what management.Definitions says about them.
//
// Owns: the parameters while the broker runs (definitions.Parameters).
//
// A change waits until it is stored; virtual hosts do not come and go meanwhile. A restart loses nothing that was answered.
package shovels
