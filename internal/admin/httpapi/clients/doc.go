// Package clients is the section of the HTTP API about connections, channels and consumers. Users without the tag
// monitoring see only their own.
package clients
