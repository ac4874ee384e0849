// Package confirms keeps which publishes of a channel are settled, and says so in as few frames as it can: acks of
// all numbers up to one, single ones beyond a gap.
//
// Owns: the publish numbers, and for each that is under way how many queues have yet to answer. It sends nothing: Append
// makes the frames when the outbox has room, and PutOff keeps in little memory what it has none for.
//
// Deadlines: none. A restart loses everything, as the channel does.
package confirms
