// Package flowcontrol slows down publishers that are faster than a queue's consumers (ADR 60).
//
// Owns: credit of connections (ADR 7) for publishes that the queue has taken while others were waiting. It is
// returned as the consumers take messages, at the latest after Longest: publishers that do not wait for confirms are
// held to the speed of fast consumers, and slow consumers block no publisher.
//
// Confirms are not delayed: only the credit to send more is withheld.
package flowcontrol
