package copies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a node with data, and one that gets copies of them.
type pair struct {
	*testing.T
	from, to *Store
	cfg      Config // of to
	ended    chan struct{}
	filled   uint64 // the last entry of from
}

func newPair(t *testing.T, disk vfs.FS, change func(*Config)) *pair {
	t.Helper()
	p := &pair{T: t, ended: make(chan struct{})}
	cfg := Config{FS: vfs.OS, Dir: t.TempDir(), SegmentSize: 1 << 20, Ended: p.ended, Log: zerolog.Nop(), OnFailure: func(err error) { t.Error(err) }}
	cfg.Cut = func() (*State, *Cut, func(), error) {
		c, err := p.from.Data().Cut((*segment.Replica).CutAll)()
		return &State{Index: p.filled, Term: 2, Configuration: raft.EncodeConfiguration(raft.Configuration{})}, c, func() {}, err
	}
	if change != nil {
		change(&cfg)
	}
	p.from = p.open(cfg)
	p.cfg = cfg
	p.cfg.Dir, p.cfg.FS = t.TempDir(), disk
	p.to = p.open(p.cfg)
	t.Cleanup(func() {
		if err := errors.Join(p.from.Close(), p.to.Close(), p.to.log.Close(), p.from.log.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *pair) open(cfg Config) *Store {
	p.Helper()
	s, err := Open(cfg)
	if err != nil {
		p.Fatal(err)
	}
	log, err := raftlog.Open(cfg.FS, filepath.Join(cfg.Dir, raftlog.Folder), raftlog.Options{})
	if err == nil {
		_, err = s.Follow(log)
	}
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// fill stores messages of 100 KB, each in an entry, and waits until they are written.
func (p *pair) fill(messages int) {
	p.Helper()
	for range messages {
		p.filled++
		body := make([]byte, 100<<10)
		for i := range body {
			body[i] = byte(uint64(i) * p.filled >> 3)
		}
		done := make(chan error, 1)
		record := store.Record{Kind: store.Put, First: p.filled, Last: p.filled, Time: 1, Deadline: store.Never, TTL: -1, Body: body}
		p.from.Data().Journal.Apply(&segment.Entry{Number: p.filled, Begin: p.filled == 1, Parts: []segment.Part{{Queue: 1, Records: []store.Record{record}, Done: func(err error) { done <- err }}}})
		if err := <-done; err != nil {
			p.Fatal(err)
		}
	}
}

// source begins a copy.
func (p *pair) source() *Source {
	p.Helper()
	_, r, err := p.from.Open("")
	if err != nil {
		p.Fatal(err)
	}
	return r.(*Source)
}

// copies are the results of the two sides of a copy.
type copied struct {
	sent, got error
	answer    raft.InstallSnapshotResponse
	offer     *Offer
	source    *Source
}

// copy sends a copy through a connection that between may wrap, on the side of the receiver.
func (p *pair) copy(between func(net.Conn) net.Conn) (r copied) {
	p.Helper()
	near, far := net.Pipe()
	r.source = p.source()
	done := make(chan error, 1)
	go func() {
		err := r.source.Serve(near, &raft.InstallSnapshotRequest{Term: 3, LastLogIndex: p.filled, LastLogTerm: 2}, &r.answer)
		_ = near.Close()
		done <- errors.Join(err, r.source.Close())
	}()
	conn := far
	if between != nil {
		conn = between(far)
	}
	if r.offer, r.got = ReadOffer(conn); r.got == nil {
		r.got = p.to.Receive(conn, r.offer, func() error { return nil })
		_ = Answer(conn, &raft.InstallSnapshotResponse{Success: true, Term: 3}, r.got)
	}
	r.sent = <-done
	_ = conn.Close()
	return r
}

// install does what raft does with a copy, and compares the data of both nodes.
func (p *pair) install(r copied) {
	p.Helper()
	if err := errors.Join(r.sent, r.got); err != nil {
		p.Fatal(err)
	}
	k, err := p.to.Create(1, r.offer.Call.LastLogIndex, r.offer.Call.LastLogTerm, raft.Configuration{}, 1, nil)
	if err != nil {
		p.Fatal(err)
	}
	if _, err := io.WriteString(k, Fetched); err != nil {
		p.Fatal(err)
	}
	if err := k.Close(); err != nil {
		p.Fatal(err)
	}
	if _, err := p.to.Install(); err != nil {
		p.Fatal(err)
	}
	p.same()
}

// same compares the data of both nodes.
func (p *pair) same() {
	p.Helper()
	want, got := p.messages(p.from), p.messages(p.to)
	if len(want) != len(got) || len(want) == 0 {
		p.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for _, m := range got {
		read := make(chan []store.Content, 1)
		p.to.Data().Journal.Read(1, []store.Ref{{Seq: m.Seq, At: m.At}}, func(c []store.Content) { read <- c })
		if c := <-read; c[0].Err != nil || c[0].Record.Body[8000] != byte(8000*m.Seq>>3) {
			p.Errorf("message %d: %v", m.Seq, c[0].Err)
		}
	}
}

func (p *pair) messages(s *Store) []store.Recovered {
	p.Helper()
	got := make(chan []store.Recovered, 1)
	s.Data().Journal.Survey(func(lists map[store.QueueID][]store.Recovered, err error) {
		if err != nil {
			p.Error(err)
		}
		got <- lists[1]
	})
	return <-got
}

// TestCopy_CLU28: a copy has what the other node has; another one later sends only what is new.
func TestCopy_CLU28(t *testing.T) {
	p := newPair(t, vfs.OS, nil)
	p.fill(40)
	r := p.copy(nil)
	p.install(r)
	if !r.answer.Success || r.source.kept != 0 || r.source.given != r.source.total || r.source.total < 3<<20 {
		t.Errorf("%+v; %d bytes sent, %d spared", r.answer, r.source.given, r.source.kept)
	}
	p.fill(5)
	applied := make(chan error, 1)
	p.to.Data().Journal.Settle(func(err error) { applied <- err })
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
	r = p.copy(nil)
	p.install(r)
	if r.source.kept < 3<<20 {
		t.Errorf("%d bytes sent, %d spared", r.source.given, r.source.kept)
	}
	if all := p.from.Sending(); all.Now != 0 || all.Spared != uint64(r.source.kept) || all.Sent < uint64(r.source.given) {
		t.Errorf("%+v", all)
	}
}

// cutOff is a connection that ends after so many bytes were read.
type cutOff struct {
	net.Conn
	left int
}

func (c *cutOff) Read(b []byte) (int, error) {
	if c.left == 0 {
		_ = c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// TestResume_CLU28: a copy goes on where an earlier one has ended, after a broken connection, a restart and a power cut, and counts only when it is complete.
func TestResume_CLU28(t *testing.T) {
	for name, crash := range map[string]bool{"restart": false, "power cut": true} {
		t.Run(name, func(t *testing.T) {
			disk := vfs.NewMemory(3)
			p := newPair(t, disk, nil)
			p.fill(60)
			for _, bytes := range []int{1000, 3 << 20, 1 << 20} {
				r := p.copy(func(c net.Conn) net.Conn { return &cutOff{c, bytes} })
				if r.got == nil || r.sent == nil {
					t.Fatal("it has not ended")
				}
				if crash {
					disk.CrashAfter(0)
				}
				_ = p.to.Close()
				_ = p.to.log.Close()
				if crash {
					disk.Crash()
				}
				p.to = p.open(p.cfg)
				if n := len(p.messages(p.to)); n != 0 {
					t.Fatalf("%d messages of a copy that is not complete", n)
				}
			}
			r := p.copy(nil)
			p.install(r)
			if least := int64(3 << 19); r.source.kept < least || r.source.kept+r.source.given != r.source.total {
				t.Errorf("%d bytes sent, %d spared, of %d", r.source.given, r.source.kept, r.source.total)
			}
		})
	}
}

// flip is a connection on which a byte is damaged.
type flip struct {
	net.Conn
	at int // bytes before it
}

func (f *flip) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if f.at >= 0 && f.at < n {
		b[f.at] ^= 4
	}
	f.at -= n
	return n, err
}

// TestVerified_CLU28: a copy that was damaged on its way, or on the disk of the sender, does not count.
func TestVerified_CLU28(t *testing.T) {
	p := newPair(t, vfs.OS, nil)
	p.fill(30)
	r := p.copy(func(c net.Conn) net.Conn { return &flip{c, 2 << 20} })
	if r.got == nil || !strings.Contains(r.got.Error(), "damaged on its way") {
		t.Errorf("damaged on its way: %v", r.got)
	}
	rot := func() {
		f, err := vfs.OS.Open(filepath.Join(Folder(p.from.cfg.Dir, First), segment.Folder, "0000000001.segment"))
		if err != nil {
			t.Fatal(err)
		}
		var b [1]byte
		if _, err = f.ReadAt(b[:], 200<<10); err == nil {
			b[0] ^= 1
			_, err = f.WriteAt(b[:], 200<<10)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	rot()
	if r = p.copy(nil); r.got == nil || !strings.Contains(r.got.Error(), "checksum of a batch") || r.sent == nil {
		t.Errorf("damaged at the sender: %v, %v", r.got, r.sent)
	}
	if p.to.Saved() != nil {
		t.Error("it counts")
	}
	rot()
	p.install(p.copy(nil))
}

// TestOffers_CLU29: an offer that is too long, has files outside of its folder or none of a copy, or does not fit on the disk, is refused.
func TestOffers_CLU29(t *testing.T) {
	disk := vfs.NewMemory(1)
	disk.SetCapacity(100 << 20)
	p := newPair(t, disk, nil)
	whole := File{Name: definitions.FileName, Size: 10}
	offers := map[string][]File{
		"is possible":      {whole, {"journal/a", 1 << 62}, {"journal/b", 1 << 62}},
		"no file":          {whole, {"journal/../../x", 1}},
		"has no file":      {whole, {"other", 1}},
		"a copy has no":    {whole, {"journal/" + strings.Repeat("x", 201), 1}},
		"of -1 bytes":      {whole, {"journal/a", -1}},
		"only once":        {whole, {"journal/a", 1}, {"journal/a", 1}},
		"has definitions":  {{"journal/a", 1}},
		"are free":         {whole, {"journal/a", 101 << 20}},
		"bytes, at most 1": nil,
	}
	for want, files := range offers {
		near, far := net.Pipe()
		sent := make(chan error, 1)
		go func() {
			if files == nil {
				_, err := near.Write(binary.BigEndian.AppendUint32(nil, maxOffer+1))
				sent <- err
				return
			}
			sent <- send(near, &Offer{Files: files})
		}()
		o, err := ReadOffer(far)
		if err == nil {
			err = p.to.Receive(far, o, func() error { return nil })
		}
		if want == "is possible" {
			want = "a copy has no file"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		_ = far.Close()
		<-sent
		_ = near.Close()
	}
}

// TestRequests_CLU29: blocks are sent in their order only, and no other files.
func TestRequests_CLU29(t *testing.T) {
	p := newPair(t, vfs.OS, nil)
	p.fill(20)
	for _, requests := range [][]request{{{file: 1}, {file: 1}}, {{file: 1}, {file: 0}}, {{file: 100}}, {{file: 0, block: 2}}} {
		near, far := net.Pipe()
		c := p.source()
		done := make(chan error, 1)
		go func() {
			done <- c.Serve(near, &raft.InstallSnapshotRequest{}, &raft.InstallSnapshotResponse{})
			_ = near.Close()
		}()
		if _, err := ReadOffer(far); err != nil {
			t.Fatal(err)
		}
		for _, q := range requests {
			if _, err := far.Write(q.encode()); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, far) }()
		}
		if err := <-done; err == nil || !strings.Contains(err.Error(), "is not to be asked for") {
			t.Errorf("%v: %v", requests, err)
		}
		_ = far.Close()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// serve sends a copy to nobody but the test.
func (p *pair) serve(c *Source) (net.Conn, chan error) {
	p.Helper()
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() {
		err := c.Serve(near, &raft.InstallSnapshotRequest{}, &raft.InstallSnapshotResponse{})
		done <- errors.Join(err, near.Close(), c.Close())
	}()
	if _, err := ReadOffer(far); err != nil {
		p.Fatal(err)
	}
	_ = far.SetDeadline(time.Time{})
	return far, done
}

// TestSources_CLU29: two copies are sent at the same time. One ends when the other node is silent for a minute, when the disk is full, and with the node.
func TestSources_CLU29(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, vfs.OS, nil)
		p.fill(20)
		began := time.Now()
		_, first := p.serve(p.source())
		_, second := p.serve(p.source())
		third := make(chan *Source)
		go func() { third <- p.source() }()
		synctest.Wait()
		if n := p.from.Sending().Now; n != maxSending {
			t.Errorf("%d copies", n)
		}
		if err := errors.Join(<-first, <-second); err == nil || time.Since(began) != idle {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		_, first = p.serve(<-third)
		p.from.full(true)
		if err := <-first; err == nil {
			t.Error("the disk is full")
		}
		_, first = p.serve(p.source())
		close(p.ended)
		if err := <-first; err == nil {
			t.Error("the node has ended")
		}
		if n := p.from.Sending().Now; n != 0 {
			t.Errorf("%d copies", n)
		}
	})
}

// TestLifetime_CLU29: a copy ends after an hour, also if the other node asks for a block each minute.
func TestLifetime_CLU29(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, vfs.OS, nil)
		p.fill(1)
		c := p.source()
		before := uint32(len(c.files))
		for i := range 100 {
			c.add(fmt.Sprintf("journal/%d", i), 1, strings.NewReader("x"), func() {})
		}
		began := time.Now()
		conn, done := p.serve(c)
		var err error
		for number := before; err == nil; number++ { // never silent for a minute
			if _, err = conn.Write(request{file: number}.encode()); err == nil {
				_, err = io.ReadFull(conn, make([]byte, answerHead+1))
			}
			time.Sleep(idle - time.Second)
		}
		if took := time.Since(began); <-done == nil || took < lifetime || took > lifetime+2*idle {
			t.Errorf("a copy lasts %v", took)
		}
	})
}

// TestRate_CLU29: copies are sent at the rate of the settings, all together.
func TestRate_CLU29(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter{rate: 10 << 20}
		began := time.Now()
		done := make(chan bool)
		for range 2 {
			go func() {
				ok := true
				for range 50 {
					ok = l.wait(1<<20, nil, nil) && ok
				}
				done <- ok
			}()
		}
		if one, other := <-done, <-done; !one || !other {
			t.Error("it has not waited")
		}
		if took := time.Since(began); took < 9900*time.Millisecond-time.Microsecond || took > 10*time.Second {
			t.Errorf("100 MiB took %v", took)
		}
		ended := make(chan struct{})
		close(ended)
		if l.wait(1<<20, ended, nil) || l.wait(1<<20, nil, ended) {
			t.Error("it has waited for a copy that has ended")
		}
		if unlimited := (&limiter{}); !unlimited.wait(1<<40, nil, nil) {
			t.Error("no limit")
		}
	})
}

// TestLeftOver_CLU29: what has come of a copy is removed when the node goes on without it.
func TestLeftOver_CLU29(t *testing.T) {
	disk := vfs.NewMemory(2)
	p := newPair(t, disk, nil)
	p.fill(30)
	if r := p.copy(func(c net.Conn) net.Conn { return &cutOff{c, 2 << 20} }); r.got == nil {
		t.Fatal("it has not ended")
	}
	folder := filepath.Join(Folder(p.cfg.Dir, First+1), segment.Folder)
	if names, err := disk.List(folder); err != nil || len(names) == 0 {
		t.Fatalf("nothing has come: %v", err)
	}
	k, err := p.to.Create(1, 1, 1, raft.Configuration{}, 1, nil)
	if err == nil {
		err = errors.Join(p.to.Promise().Persist(k), k.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := disk.List(folder); len(names) > 0 {
		t.Errorf("%v are left", names)
	}
}
