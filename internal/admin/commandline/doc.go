// Package commandline provides the verbs of rabbitmqctl: they keep its syntax, output and exit codes (POL-16 to
// POL-18), and ask a running broker over HTTP.
//
// Owns: the table of verbs with their titles, tables and texts. Package verb defines the parts of rows, format writes
// lists, and internal/admin/httpapi/client calls the API. Other commands of the program are not here.
//
// To add a verb: a row in the file of its subject, with its name, its arguments as usage shows them, its options, its
// columns, the title that it prints, and its action (verb/action.go): mostly a request with {names} of arguments in its
// path. program.go executes rows, verbs.go joins the tables of the files. A new option is a line in verb/options.go.
//
// Deadlines: a verb has 60 s, or --timeout.
package commandline
