// Package amqp10 tests the broker with clients of AMQP 1.0: in virtual time with Azure/go-amqp, beside clients of 0-9-1, and
// with frames of its own where no client does what is to be tested.
package amqp10
