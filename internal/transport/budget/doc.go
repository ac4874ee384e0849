// Package budget counts the bytes that all queues of a broker hold in memory, against a limit above which they page
// out, and a higher one above which the broker stops reading publishing connections; incomplete contents and open
// transactions, against limits of their own; output that clients do not read; and objects that cannot leave memory.
//
// Owns: these counts; the valve between the queues and the connections; the intake, which decides whose content may be
// kept while it arrives; the limits of unread output, with the list of outputs that wait until a client has read; the
// prices and limits of objects. Safe for concurrent use; each queue adds its changes once a turn, each content asks
// once, and only if it is large and does not arrive in one read.
package budget
