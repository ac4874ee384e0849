// Package storetest tests implementations of store.Journal: every one has to pass.
//
// Owns: Exercise, the conformance suite, which takes the interface at its word;
// Model, which knows what a journal may still have after a crash; and Put, which
// makes messages whose every byte can be told from their number.
//
// A journal's own tests call Exercise, and drive a Model through crashes of their
// files.
package storetest
