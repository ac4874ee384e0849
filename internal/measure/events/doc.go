// Package events publishes events of the broker's objects: a queue was declared, a user was given permissions, an alarm
// was set. There are two kinds of readers. The log (eventlog) gets a line for each change that a user made, with the
// user (the record); listeners get the events, with the names and keys that RabbitMQ's event exchange gives them.
//
// Owns: the listeners of a broker (Hub), each with a buffer of its own.
//
// An actor reports an event to the Hub in its own turn, and never waits: a line is written like any other line of the
// log, and a listener whose buffer is full misses the event and later gets the number of missed ones. There are no
// events per message. An event without a reader is not built.
//
// The originator of a change is an Origin. It travels with requests over HTTP in their context and with commands to
// actors in mail.Request; nil is the broker itself.
//
// Events contain no secrets (ACC-11): Publish removes from their fields what looks like one, and the log from Before.
//
// Deadlines: none.
package events
