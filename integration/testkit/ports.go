package testkit

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// lastPort is below the ports that the system gives to connections and to listeners that name none. It is different in each process.
var lastPort atomic.Uint32

func init() { lastPort.Store(uint32(os.Getpid()) * 7919 % 12000) }

// FreeAddress returns an address at which nobody listens, and at which a program can listen later: no connection gets its port meanwhile.
func FreeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+lastPort.Add(1)%12000))
		if err == nil {
			_ = l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("all ports are in use")
	return ""
}
