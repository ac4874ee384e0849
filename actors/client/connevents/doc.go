// Package connevents publishes the events of connections, channels and consumers, of either protocol, and describes the ends of
// sockets.
//
// Owns: nothing.
package connevents
