package connection_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/integration/testkit"
	"candlemark/internal/measure/clock"
	"candlemark/internal/transport/stream"
	"candlemark/protocol"
)

// overTLS puts a rig's connection on TLS, as a listener would.
func overTLS(t *testing.T) func(*connection.Config) {
	config := &tls.Config{Certificates: []tls.Certificate{testkit.NewAuthority(t).Issue(pkix.Name{CommonName: "broker"})}}
	return func(c *connection.Config) {
		c.Conn = tls.Server(stream.NewPatience(c.SendTimeout, c.Clock).Patient(c.Conn), config)
	}
}

// runFor lets seconds of process run time pass, looking at the clock once a second.
func runFor(c *clock.Clock, seconds int) {
	for range seconds {
		<-time.After(time.Second)
		c.Look()
	}
}

// A client that does not read while the process is paused is not cut off, with or without TLS; if it still does not
// read, it is cut off after SendTimeout of process run time, or up to a third later.
func TestUnread_Pause(t *testing.T) {
	for name, change := range map[string]func(*connection.Config){"TCP": func(*connection.Config) {}, "TLS": overTLS(t)} {
		for _, reads := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				var c *clock.Clock
				running(t, func(cfg *connection.Config) { c = cfg.Clock; change(cfg) }, func(r *rig) {
					runFor(c, 1)
					r.openChannel(1)
					r.stopReading()
					r.sendMethods(0, ask) // TLS reads all of it for one byte
					synctest.Wait()
					r.sendMethods(0, ask)
					runFor(c, 10)
					<-time.After(time.Hour)
					c.Look()
					runFor(c, 2)
					select {
					case <-r.ended:
						t.Fatal("cut off for the pause")
					default:
					}
					if reads {
						go io.Copy(io.Discard, r.Conn)
						runFor(c, 60)
						r.sendMethods(1, &protocol.BasicQos{})
						r.expectEvents("1: basic.qos")
						return
					}
					runFor(c, 12) // one byte was read, and TLS takes 5 s to send its alert
					r.expectEvents("close 1", "release")
				})
			})
		}
	}
}

// A peer that reads one byte at a time receives a whole record, however long that takes.
func TestPatient_Slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		p := stream.NewPatience(0, clock.New()).Patient(ours)
		body := bytes.Repeat([]byte("slow"), 10)
		done := make(chan error, 1)
		go func() {
			n, err := p.Write(body)
			if err == nil && n != len(body) {
				err = io.ErrShortWrite
			}
			done <- err
		}()
		var got []byte
		for range body {
			<-time.After(14 * time.Second)
			one := make([]byte, 1)
			if _, err := theirs.Read(one); err != nil {
				t.Fatal(err)
			}
			got = append(got, one...)
		}
		if err := <-done; err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q, %v", got, err)
		}
		takes(t, 15*time.Second, 15*time.Second, func() {
			if n, err := p.Write(body); n != 0 || err == nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
		// Setting a deadline overrides the patience, as when TLS is closed.
		takes(t, 5*time.Second, 5*time.Second, func() {
			_ = p.SetWriteDeadline(time.Now().Add(5 * time.Second))
			if _, err := p.Write(body); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
		})
		_ = theirs.Close()
		_ = p.Close()
	})
}
