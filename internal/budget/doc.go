// Package budget counts what all queues of a broker hold in memory, against a
// limit above which they page out, and a higher one above which no more is read
// from those who bring it; and what clients have begun and not ended, contents
// that are not whole and transactions, against limits of its own.
//
// Owns: those numbers, the valve between the queues and the connections, and the
// intake, which decides whose content may be kept while it arrives. Safe for
// concurrent use; each queue adds what changed once a turn, each content asks
// once, and only if it is large and does not come in one read.
package budget
