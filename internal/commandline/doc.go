// Package commandline has the verbs of rabbitmqctl: they keep its syntax, output and exit codes (POL-16 to POL-18), and
// ask a running broker over HTTP.
//
// Owns: the table of verbs (verbs.go), their options, titles, tables and texts. Package internal/httpapi/client knows
// the API. Other commands of the program are not here.
//
// Deadlines: a verb has 60 s, or --timeout.
package commandline
