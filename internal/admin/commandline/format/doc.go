// Package format writes lists and values as rabbitmqctl does: with tabs, in boxes, as CSV or JSON.
//
// Owns: nothing; its functions write to the given writer. Mail, states, deadlines: none. A restart loses nothing.
package format
