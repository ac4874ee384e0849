// Package events tells what happens to the broker's objects: a queue was declared, a user was given permissions, an alarm
// was set. There is one mechanism for two readers. The log gets a line for each change that somebody made, with who it was
// (the record); listeners get the events, with the names and keys that RabbitMQ's event exchange gives them.
//
// Owns: the listeners of a broker (Hub), each with a buffer of its own.
//
// Whoever does something tells the Hub in its own turn, and waits for nobody: a line is written like any other line of the
// log, and a listener whose buffer is full misses the event and is told how many it has missed. Nothing is told per message.
// What nobody wants to know is not even put together.
//
// Who does something is an Origin. It travels with requests over HTTP in their context and with commands to actors in
// mail.Request; nil is the broker itself.
//
// Passwords and hashes are in no event; what looks like the user and password of a URI is left out of texts (Redacted).
//
// Deadlines: none.
package events
