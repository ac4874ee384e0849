// Package qos divides the limit that all consumers of a channel share (basic.qos with global=true) among the queues
// that they consume from: queues offer, the channel allows (PRO-8).
//
// Owns: the limit, what is under it, and the offers that there is no room for. It learns of every delivery to a consumer
// and of every settlement, whether there is a limit or not.
//
// Sends: Allow, Reclaim, Limit and Resize to queues. What room is left is given in advance to queues that ask for it;
// when it is needed elsewhere, it is asked back.
//
// Deadlines: none. A restart loses everything, as the channel does.
package qos
