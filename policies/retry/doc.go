// Package retry decides how long messages that come back to a queue wait before they are delivered again.
package retry
