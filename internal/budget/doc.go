// Package budget counts what all queues of a broker hold in memory, against a
// limit above which they page out, and a higher one above which no more is read
// from those who bring it.
//
// Owns: two numbers, and the valve between them and the connections. Safe for
// concurrent use; each queue adds what changed once a turn.
package budget
