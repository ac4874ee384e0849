// Package wire10 is package wire in AMQP 1.0, for producers and consumers: its events, publishes and subscriptions are
// wire's. A channel is a session with one link; a publisher's credit is an event. Frames, performatives and sections
// are package amqp10's.
//
// A queue is addressed as /queues/NAME, an exchange as /exchanges/NAME/KEY. One goroutine may read a connection while
// others write to it; a timer sends empty frames if the broker requires heartbeats.
package wire10
