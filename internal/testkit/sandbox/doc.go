// Package sandbox keeps tests that start programs out of the user's folders.
//
// Owns: Tests, the tests of a package with HOME and the XDG folders in a new
// folder, which must be empty when they have run. A program that they start
// with its default folders makes them fail, instead of using the user's files.
package sandbox
