// Package rabbitmqadmin is the command line of that name which RabbitMQ's management plugin hands out: list, show,
// declare, delete, close, purge, publish, get, export and import over the HTTP API, with its options, configuration
// file and forms of output.
//
// Owns: the tables of what can be listed, declared and so on (kinds.go), and the output (table.go, json.go). Package
// internal/admin/httpapi/client speaks to the broker. rabbitmqctl's verbs are package commandline.
//
// Where the original ends with a traceback (an unknown status, a null column) this prints an error, or leaves the
// cell empty.
//
// Deadlines: a request has 120 s, or --request-timeout.
package rabbitmqadmin
