// Package trial runs a whole cluster on this machine, for users who want to see one.
//
// Owns: the processes of the nodes, and the file with their ports and their secret.
//
// Mail: none.
//
// States: each node runs, or is started again a second after its end.
//
// Deadlines: none.
//
// A restart loses: nothing; nodes keep their folders and ports.
package trial
