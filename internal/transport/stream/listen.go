package stream

import (
	"context"
	"net"
	"time"
)

// keepalive detects silent clients whose host is gone, even without heartbeats: after 30 s of silence, and then 6
// unanswered probes, one every 10 s. Heartbeats detect them sooner.
var keepalive = net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
	Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 6,
}}

// Listen opens a listener for clients at an address, host:port.
func Listen(address string) (net.Listener, error) {
	return keepalive.Listen(context.Background(), "tcp", address)
}
