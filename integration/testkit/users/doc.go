// Package users has users and permissions for tests, in a table.
//
// Owns: nothing.
package users
