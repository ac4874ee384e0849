// Package flowcontrol slows down publishers that outrun a queue's consumers (ADR 60).
//
// Owns: credit of connections (ADR 7) for publishes that the queue has taken while other messages were waiting. It is
// returned as the consumers take messages, at the latest after MaxDelay: publishers that do not wait for confirms are
// slowed to the speed of fast consumers, but slow consumers do not block publishers.
//
// Confirms are not delayed: only the credit to send more is withheld.
package flowcontrol
