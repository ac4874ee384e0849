// Package offline provides the commands for the data folder of a stopped broker: restoring a backup, inspecting and
// repairing the journal, and deciding about messages of queues that the definitions lack.
//
// Owns: nothing; a command holds the lock of the data folder that it opens.
//
// States, deadlines: none.
//
// A restart loses: nothing. After a killed command, a broker can start, or the command can be repeated.
package offline
