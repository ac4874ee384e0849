// Package flowcontrol slows down who publishes faster than a queue's consumers take (ADR 60).
//
// Owns: credit of connections (ADR 7) for publishes that the queue has taken while others were waiting. It goes back as the
// consumers take messages, at the latest after Longest, so that whoever publishes without waiting for confirms goes at the
// speed of consumers that are fast, and consumers that are slow hold up nobody.
//
// Confirms do not wait for it: what is held is only the leave to send more.
package flowcontrol
