// Package view finds what rules of Service Bus look at in a message of the broker: the fields of Service Bus among its properties, or among
// what AMQP 1.0 has told of it. It is pure.
package view
