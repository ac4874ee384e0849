//go:build linux

package integration

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// mount mounts a file system until the test ends, or skips the test if that is not permitted.
func mount(t *testing.T, args ...string) (at string) {
	t.Helper()
	at = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", append(args, at)...).CombinedOutput(); err != nil {
		t.Skipf("mount: %v %s", err, out)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = exec.CommandContext(ctx, "umount", "-l", at).Run()
	})
	return at
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", name, err, out)
	}
}

// ballast fills a file system to the last byte.
func ballast(t *testing.T, dir string) (name string) {
	t.Helper()
	name = filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return name
}

// sender publishes numbered messages of 10 KiB with confirms until its
// connection ends or the test stops it.
type sender struct {
	confirmed atomic.Int64 // numbers from 1 up to this one are confirmed
	sent      atomic.Int64
	blocked   chan amqp.Blocking
	stop      atomic.Bool
	done      sync.WaitGroup
}

func (b *broker) sender(queue string) *sender {
	c := b.dial()
	s := &sender{blocked: c.conn.NotifyBlocked(make(chan amqp.Blocking, 1000))}
	s.done.Go(func() {
		var window []*amqp.DeferredConfirmation
		for !s.stop.Load() {
			n := s.sent.Add(1)
			body := append([]byte(fmt.Sprint(n, " ")), make([]byte, 10<<10)...)
			d, err := c.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{DeliveryMode: 2, Body: body})
			if err != nil {
				break
			}
			if window = append(window, d); len(window) == 100 {
				if !window[0].Wait() {
					return
				}
				window = window[1:]
				s.confirmed.Add(1)
			}
		}
		for _, d := range window {
			if !d.Wait() {
				return
			}
			s.confirmed.Add(1)
		}
	})
	return s
}

// awaitBlocked waits until the connection is blocked for a reason.
func (s *sender) awaitBlocked(t *testing.T, reason string) {
	t.Helper()
	select {
	case x := <-s.blocked:
		if !x.Active || x.Reason != reason {
			t.Fatalf("received %+v", x)
		}
	case <-time.After(patience):
		t.Fatalf("no client received the reason %q", reason)
	}
}

// finish waits until a sender has ended.
func (s *sender) finish(t *testing.T) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		s.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("the sender hangs: %d sent, %d confirmed", s.sent.Load(), s.confirmed.Load())
	}
}

// numbers consumes a queue and returns the numbers of its messages.
func (c *client) numbers(queue string) (all []int) {
	c.Helper()
	for d := range c.taken(queue) {
		word, _, _ := strings.Cut(string(d.Body), " ")
		n, err := strconv.Atoi(word)
		c.must(err)
		all = append(all, n)
	}
	return all
}

// keeps checks that a queue has all numbers up to n, in order.
func (c *client) keeps(queue string, n int64) {
	c.Helper()
	all := c.numbers(queue)
	for i := range int(n) {
		if i >= len(all) || all[i] != i+1 {
			c.Fatalf("%s: of %d confirmed messages, number %d is lost; %d are there", queue, n, i+1, len(all))
		}
	}
	if !slices.IsSorted(all) {
		c.Errorf("%s: not in order", queue)
	}
	c.Logf("%s: %d confirmed, %d there", queue, n, len(all))
}

// A disk that other processes fill to the last byte while messages arrive blocks the publishers and no other clients: no
// confirmed message and no definition is lost, even if the broker is killed and started on the full disk, and publishers are
// unblocked when space is free again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := mount(t, "-t", "tmpfs", "-o", "size=300m", "tmpfs")
	dir := filepath.Join(disk, "data")
	b := startIn(t, dir, "--disk-free-limit", "0")
	c := b.dial()
	for _, q := range []string{"q", "other"} {
		_, err := c.QueueDeclare(q, true, false, false, false, nil)
		c.must(err)
	}
	c.put("", "other", amqp.Publishing{DeliveryMode: 2, Body: []byte("1 ")})
	s := b.sender("q")
	eventually(t, "some are confirmed", func() bool { return s.confirmed.Load() > 500 })
	full := ballast(t, disk)
	s.awaitBlocked(t, "low on disk")
	// Declarations are confirmed or refused.
	var declared []string
	for n := range 300 {
		name := fmt.Sprint("late", n)
		_, err := c.QueueDeclare(name, true, false, false, false, amqp.Table{"x-note": strings.Repeat("x", 1000)})
		if err != nil {
			c.fails(err, amqp.InternalError, "the definition could not be stored")
			break
		}
		declared = append(declared, name)
	}
	c = b.dial()
	if d, ok, err := c.Get("other", true); err != nil || !ok || string(d.Body) != "1 " {
		t.Errorf("get on a full disk: %v %v", ok, err)
	}
	b.kill()
	s.finish(t)
	b = startIn(t, dir, "--disk-free-limit", "0")
	c = b.dial()
	for _, q := range declared {
		if !c.exists(q) {
			t.Errorf("%s is lost", q)
		}
	}
	again := b.sender("other")
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	eventually(t, "publishing goes on", func() bool { return again.confirmed.Load() > 500 })
	again.stop.Store(true)
	again.finish(t)
	_, err := c.QueueDeclare("afterwards", true, false, false, false, nil)
	c.must(err)
	c.keeps("q", s.confirmed.Load())
	// Messages consumed before the kill may reappear: their removal need not have been written.
	if n := int64(len(c.numbers("other"))) - again.confirmed.Load(); n < 0 || n > 1 {
		t.Errorf("other: %d more than were confirmed", n)
	}
}

// unreliable returns an ext4 file system on a disk with less space than it reports: writes beyond it fail, as on a failing disk.
func unreliable(t *testing.T, size string) (below, disk string) {
	t.Helper()
	below = mount(t, "-t", "tmpfs", "-o", "size="+size, "tmpfs")
	image := filepath.Join(below, "image")
	run(t, "truncate", "-s", "1G", image)
	if out, err := exec.Command("mkfs.ext4", "-q", "-E", "nodiscard", image).CombinedOutput(); err != nil {
		t.Skipf("mkfs: %v %s", err, out)
	}
	return below, mount(t, "-o", "loop", image)
}

// failed waits until the broker exits by itself.
func (b *broker) failed() {
	b.Helper()
	select {
	case err := <-b.exited:
		b.gone = true
		if err == nil {
			b.Error("the broker ended well")
		}
	case <-time.After(patience):
		b.Fatalf("the broker goes on:\n%s", b.log)
	}
	b.checkLog()
}

// A failed write makes the broker exit with a reason in the log; confirmed messages are present when the disk is readable again.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	below, disk := unreliable(t, "100m")
	dir := filepath.Join(disk, "data")
	b := startIn(t, dir)
	c := b.dial()
	_, err := c.QueueDeclare("q", true, false, false, false, nil)
	c.must(err)
	s := b.sender("q")
	b.failed()
	s.finish(t)
	if text := b.log.String(); !strings.Contains(text, "the journal failed") {
		t.Errorf("log:\n%s", text)
	}
	run(t, "mount", "-o", "remount,size=500m", below)
	run(t, "umount", "-l", disk)
	_ = exec.Command("e2fsck", "-fy", filepath.Join(below, "image")).Run()
	run(t, "mount", "-o", "loop", filepath.Join(below, "image"), disk)
	b = startIn(t, dir)
	b.dial().keeps("q", s.confirmed.Load())
	b.stop()
}

// A file system that becomes read-only makes the broker exit, too.
func TestDiskReadOnly(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*client) error{
		"publish": func(c *client) error {
			d, err := c.PublishWithDeferredConfirm("", "q", false, false, amqp.Publishing{DeliveryMode: 2})
			if err == nil && !d.Wait() {
				err = io.EOF
			}
			return err
		},
		"declare": func(c *client) error {
			_, err := c.QueueDeclare("new", true, false, false, false, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, disk := unreliable(t, "500m")
			dir := filepath.Join(disk, "data")
			b := startIn(t, dir)
			c := b.dial()
			_, err := c.QueueDeclare("q", true, false, false, false, nil)
			c.must(err)
			run(t, "mount", "-o", "remount,abort", disk)
			if err := act(c); err == nil {
				t.Error("no error although the disk has failed")
			}
			b.failed()
			if text := b.log.String(); !strings.Contains(text, "read-only file system") || !strings.Contains(text, "nothing can be added; stopping") {
				t.Errorf("log:\n%s", text)
			}
		})
	}
}
