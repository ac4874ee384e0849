// Package forced changes the data folder of a node of a cluster that is stopped, without the consent of the other nodes (CLU-31).
//
// Owns: nothing; a call holds the lock of the data folder.
//
// A restart loses: nothing. After a crash the same call completes the change.
package forced
