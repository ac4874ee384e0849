// Package definitionfile is the section of the HTTP API about definitions as a whole: their export and import, also at the
// start of the broker.
//
// An import is judged first (package document), then carried out section by section. It merges: existing objects stay,
// or are replaced where RabbitMQ replaces them. Policies of a virtual host are one change; queues, exchanges and
// bindings are imported many at a time. Users that may import may do everything: permissions in virtual hosts are not
// checked.
//
// Deadlines: an import over HTTP has 10 min (rest.Slow).
//
// Holds: one document of at most 24 MiB for each request, within the bounds of rest, and document.MaxItems items.
package definitionfile
