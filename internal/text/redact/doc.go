// Package redact removes secrets from text and values before they are logged, sent as events or shown in errors (ACC-11).
// It recognises two kinds of secrets: the login and the query of an address, anywhere in a text, and values with the
// name of a secret, such as password or SharedAccessKey.
//
// Owns: nothing.
//
// Deadlines: none.
package redact
