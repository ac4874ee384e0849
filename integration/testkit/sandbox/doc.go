// Package sandbox keeps tests that start programs out of the folders of the user and of the source.
//
// Owns: Tests, the tests of a package with HOME and the XDG folders in a new
// folder, which must be empty when they have run. A program that they start
// with its default folders makes them fail, instead of using the user's files;
// so does a new file in the folder of the package.
package sandbox
