// Package paging moves contents of one queue's messages from memory to the journal while memory is tight, except
// contents to be delivered soon, and reads them back in time.
//
// Owns: the progress of these transfers, and the list of contents to be read. The messages are in the queue's backlogs.
//
// Deadlines: Next returns when to call Resume after a failed read.
//
// A restart loses nothing: afterwards all messages in the journal are paged out.
package paging
