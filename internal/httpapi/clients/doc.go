// Package clients is the section of the HTTP API about connections, channels and consumers. Who is no monitor sees
// its own.
package clients
