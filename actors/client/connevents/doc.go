// Package connevents publishes the events of connections, of either protocol, and describes the ends of sockets.
//
// Owns: nothing.
package connevents
