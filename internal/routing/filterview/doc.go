// Package filterview finds the properties that rules of Service Bus read in a message of the broker: the fields of Service
// Bus among its properties, or in its sections of AMQP 1.0. It is pure.
package filterview
