// Package websocket takes connections of AMQP over WebSocket (RFC 6455), as the SDKs of Azure Service Bus make them
// where only HTTP gets through: the bytes of AMQP in binary messages, however these divide them.
//
// Owns: the frames of WebSocket, which the library has, and how a connection ends. The broker handles the AMQP inside,
// with the limits, logins and alarms of any other connection.
//
// Deadlines: the broker's. Bounds: nothing is gathered, a message of WebSocket may be of any length and is read in
// pieces.
package websocket
