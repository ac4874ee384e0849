// Package paging lets the contents of one queue's messages leave memory for the journal while that is tight, but for those
// that are soon to be delivered, and reads them back in time.
//
// Owns: how far that has come, and which contents are to be read. The messages are in the queue's backlogs.
//
// Deadlines: Next says when Resume is to be called, after a read that failed.
//
// A restart loses nothing: whatever survives is paged out then.
package paging
