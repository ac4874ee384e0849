// Package offline has the commands that work on the data folder of a broker that does not
// run: making one of a backup, looking into the journal, mending it, and saying what is to become of messages of
// queues that the definitions do not know.
//
// Owns: nothing; whatever opens a data folder holds its lock meanwhile.
//
// States, deadlines: none.
//
// A restart loses: nothing. A command that is killed leaves what the next start of a broker,
// or the same command again, can go on with.
package offline
