// Package instant parses times in headers of messages (TTL-5, DLY-2). It is pure.
package instant
