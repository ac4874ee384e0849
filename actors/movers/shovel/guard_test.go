package shovel

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func frame(kind byte, payload []byte) []byte {
	f := []byte{kind, 0, 1}
	f = binary.BigEndian.AppendUint32(f, uint32(len(payload)))
	return append(append(f, payload...), 0xCE)
}

func header(body uint64) []byte {
	return frame(2, binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, body))
}

func answer(method byte, tag uint64) []byte {
	return frame(1, append(binary.BigEndian.AppendUint64([]byte{0, 60, 0, method}, tag), 0))
}

// A header with too large a size, and an answer to a message that was not published, end the connection, however the stream is
// cut.
func TestGuardRefuses(t *testing.T) {
	body := frame(3, bytes.Repeat([]byte("x"), 100))
	for _, c := range []struct {
		stream []byte
		wrong  string
	}{
		{bytes.Join([][]byte{frame(8, nil), answer(80, 7), header(100), body, answer(120, 3), frame(1, []byte{0, 20})}, nil), ""},
		{bytes.Join([][]byte{header(100), body, header(101)}, nil), "a message of 101 bytes exceeds the limit of 100 bytes"},
		{bytes.Join([][]byte{body, header(1 << 63)}, nil), "a message of 9223372036854775808 bytes exceeds the limit of 100 bytes"},
		{bytes.Join([][]byte{answer(80, 7), answer(80, 8)}, nil), errStrange.Error()},
		{answer(120, 1<<63), errStrange.Error()},
	} {
		for _, piece := range []int{1, 3, 11, 1000} {
			near, far := net.Pipe()
			g := newGuard(near, 100, -1)
			g.published.Store(7)
			go func() {
				for rest := c.stream; len(rest) > 0; {
					n := min(piece, len(rest))
					if _, err := far.Write(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
				_ = far.Close()
			}()
			got, err := io.ReadAll(g)
			if c.wrong == "" && (err != nil || !bytes.Equal(got, c.stream)) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%d bytes at a time: %v", piece, err)
			}
			_ = g.Close()
			_ = far.Close()
		}
	}
}

// Nothing is read while too much is held; that time does not count for the read deadline.
func TestGuardWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		g := newGuard(near, 1000, 1500)
		message := append(header(400), frame(3, bytes.Repeat([]byte("x"), 400))...)
		written := 0
		go func() {
			for range 5 {
				if _, err := far.Write(message); err != nil {
					return
				}
				written++
			}
			_ = far.Close()
		}()
		read := make(chan error, 1)
		_ = g.SetReadDeadline(time.Now().Add(10 * time.Second))
		go func() {
			buffer := make([]byte, 4096)
			for {
				if _, err := g.Read(buffer); err != nil {
					read <- err
					return
				}
			}
		}()
		synctest.Wait()
		if written != 2 || g.held != 2*(12+400+perMessage) {
			t.Fatalf("%d messages, %d bytes", written, g.held)
		}
		time.Sleep(time.Minute)
		g.letGo(1)
		synctest.Wait()
		if written != 3 {
			t.Errorf("%d messages", written)
		}
		g.open()
		if err := <-read; err != io.EOF || written != 5 {
			t.Error(err, written)
		}
		_ = g.Close()
	})
}
