// Package load makes the load of package bench: producers that change a few bytes of encoded batches and write them ([Producer]),
// consumers that read what arrives and acknowledge many messages at once ([Consumer]), and calls with answers ([Caller],
// [Server]). Their own cost is kept below the broker's; what they hold does not grow with the length of a run.
//
// Time: a message that is sent by a rate has the moment when it should have been sent in its body. Latency counts from there, so
// that a broker which holds the producer up does not get away with few samples (no coordinated omission).
package load
