// Package rest contains everything that the sections of the HTTP API share: a request of a known user, the rules that
// permit it, the JSON object in it, lists with pages and filters, and the errors that become statuses and bodies.
//
// A section is a table of routes: Get, Put, Post or Delete with a path, a Rule and a Handler. A handler returns a value
// or an error; Serve is the only way to an answer, and StatusOf the only place where an error becomes a status (ADR
// 39). Resource lists and shows a kind of objects, Created and Found answer creating and deleting requests.
//
// Deadlines: the broker has 30 s (Patience) of the time that it runs for a request; an answer is written within 30 s.
//
// Holds: the bodies of requests, 128 MiB of all and 96 MiB of one user at most (memory.go).
package rest
