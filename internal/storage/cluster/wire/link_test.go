package wire

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowNetwork_CLU13: a call that takes longer than its limit arrives as long as its pieces do; one of which nothing is read ends.
func TestSlowNetwork_CLU13(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		l := &link{Conn: a, port: &Port{}}
		defer l.Close()
		for _, limit := range []func(time.Time) error{l.SetDeadline, l.SetWriteDeadline} {
			go func() {
				for range 20 {
					<-time.After(time.Second)
					_, _ = io.ReadFull(b, make([]byte, 100))
				}
			}()
			_ = limit(time.Now().Add(10 * time.Second))
			for n := range 20 {
				if _, err := l.Write(make([]byte, 100)); err != nil {
					t.Fatalf("piece %d: %v", n, err)
				}
			}
			synctest.Wait()
		}
		began := time.Now()
		if _, err := l.Write(make([]byte, 100)); err == nil || time.Since(began) != 10*time.Second {
			t.Errorf("nobody reads: %v after %v", err, time.Since(began))
		}
	})
}
