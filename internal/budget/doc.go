// Package budget counts what all queues of a broker hold in memory, against a
// limit above which they page out.
//
// Owns: two numbers. Safe for concurrent use; each queue adds what changed once
// a turn.
package budget
