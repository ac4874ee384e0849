package systemd

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// The notifications to the service manager.
const (
	Ready     = "READY=1"
	Reloading = "RELOADING=1"
	Stopping  = "STOPPING=1"
	alive     = "WATCHDOG=1"
)

// Notifier sends messages to the service manager.
type Notifier struct {
	socket string
	within time.Duration // a sign of life is wanted, 0 for none
}

// New finds the service manager by the environment that it gave the process.
func New(getenv func(string) string) *Notifier {
	n := &Notifier{socket: getenv("NOTIFY_SOCKET")}
	pid := getenv("WATCHDOG_PID")
	if us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.within = time.Duration(us) * time.Microsecond
	}
	return n
}

// Notify sends a message to the service manager, if there is one.
func (n *Notifier) Notify(what string) error {
	if n.socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte(what))
	return err
}

// Watch gives signs of life, if they are wanted, as long as works returns nil; call the result to end that. works gets as long as
// there is until the next one.
func (n *Notifier) Watch(works func(context.Context) error) (end func()) {
	if n.socket == "" || n.within == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		beat := time.NewTicker(n.within / 2)
		defer beat.Stop()
		for {
			each, done := context.WithTimeout(ctx, n.within/2)
			if works(each) == nil {
				_ = n.Notify(alive) // if it gets lost, the next one counts
			}
			done()
			select {
			case <-beat.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
