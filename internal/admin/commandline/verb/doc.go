// Package verb has the parts of a verb of the command line: its row in the table, the options and arguments given to
// it, the actions that most verbs consist of, and the failures with their exit codes (POL-16 to POL-18).
//
// Owns: the options of all verbs. The rows themselves are in package commandline, which carries them out.
//
// {names} in titles, paths and texts stand for arguments, and for vhost, broker, user, timeout and priority
// (Call.Expand).
package verb
