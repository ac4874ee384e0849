// Package timeheaders reads the headers of messages that contain times: the delay of a delayed exchange (DLY-2), the
// time at which a queue releases a scheduled message (DLY-8), and the time of expiry (TTL-5).
//
// It is pure except for Schedules, which the vhost actor sets and any goroutine may read.
package timeheaders
