// Package rest has all that the sections of the HTTP API share: a request of a known user, the rules on who may make
// it, the JSON object that it brings, lists with pages and filters, and the errors that become statuses and bodies.
//
// A section is a table of routes: Get, Put, Post or Delete with a path, a Rule and a Handler. A handler returns a
// value or an error; Serve is the only way to an answer, and StatusOf the only place where an error becomes a status
// (ADR 39). Resource lists and shows a kind of objects, Created and Found answer for what makes and ends one.
//
// Deadlines: the broker has 30 s (Patience) of the time that it runs for a request; an answer is written within 30 s.
//
// Holds: the bodies of requests, 128 MiB of all and 96 MiB of one user at most (memory.go).
package rest
