package integration

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A graceful Close always succeeds: a client must not see the end of the stream before it has processed close-ok. The client has
// a race there, so the test repeats it many times.
func TestCloseIsGraceful(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	b, address := secured(t, a, t.TempDir())
	for name, dial := range map[string]func() (*amqp.Connection, error){
		"TCP": func() (*amqp.Connection, error) { return amqp.Dial("amqp://guest:guest@" + b.amqp + "/") },
		"TLS": func() (*amqp.Connection, error) {
			return amqp.DialTLS("amqps://guest:guest@"+address+"/", &tls.Config{RootCAs: a.Roots()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 200 {
				conn, err := dial()
				if err != nil {
					t.Fatal(err)
				}
				closed := conn.NotifyClose(make(chan *amqp.Error, 1))
				if n%2 == 0 {
					if _, err := conn.Channel(); err != nil {
						t.Fatal(err)
					}
				}
				if err := conn.Close(); err != nil {
					t.Fatalf("close %d: %v", n, err)
				}
				select {
				case err := <-closed: // nil when the channel is closed
					if err != nil {
						t.Fatalf("close %d was reported as %v", n, err)
					}
				case <-time.After(patience):
					t.Fatalf("close %d is not reported", n)
				}
			}
		})
	}
}

// A client that does not close the socket after close-ok is disconnected, but not at once.
func TestCloseIsLeftToTheClient(t *testing.T) {
	t.Parallel()
	b := start(t)
	i := b.connectRaw(t)
	i.login(0)
	begin := time.Now()
	i.say(method(0, &protocol.ConnectionClose{ReplyCode: 200}))
	expect[*protocol.ConnectionCloseOk](i)
	if _, err := i.next(); !errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v instead of the end", err)
	}
	if past := time.Since(begin); past < 3*time.Second {
		t.Errorf("cut off after %v", past)
	}
}
