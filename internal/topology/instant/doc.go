// Package instant reads moments that headers of messages name (TTL-5, DLY-2). It is pure.
package instant
