// Package tidy owns the repository rules that a machine can check. It holds tests only:
//
//   - imports_test.go: which package may import which, and who may know the actor library
//   - layout_test.go: the top-level folders, package names, one doc.go per package, decision records
//   - size_test.go: the length of files and functions
//   - words_test.go: doc comments, words of comments and documents, leftover notes
//   - habits_test.go: no sleeping to wait, leak checks, sandboxes
//   - links_test.go: what documents link to
//   - spec_test.go: each rule of docs/spec has a source and tests
//   - citations_test.go: cited rules, decision records and documents exist
//   - mutations_test.go: the code that .ci/equivalent quotes exists
//
// A rule is a function from the parsed tree to complaints. TestRepository runs all of them over the repository;
// TestRulesComplain gives each a small wrong tree, so that no rule can stop detecting violations unnoticed. Generated
// files are exempt.
//
// If an exception is needed, change the rule here, in the same commit, and say why.
package tidy
