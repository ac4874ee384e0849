// Package erlang prints values as Erlang terms, because the texts that clients of
// RabbitMQ see contain such (ERR-4, POL-5). It has the part of Erlang's notation that
// those values need.
//
// Owns: nothing; its functions are pure.
//
// States: none.
//
// Deadlines: none. A restart loses nothing.
package erlang
