// Package storetest tests implementations of store.Journal: every one has to pass.
//
// Owns: Exercise, the conformance suite, which tests every guarantee of the interface; Model, which knows what a
// journal may still have after a crash; and Put, which makes messages whose every byte follows from their number.
//
// A journal's own tests call Exercise, and drive a Model through crashes of their
// files.
package storetest
