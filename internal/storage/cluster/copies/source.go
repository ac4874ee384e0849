package copies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"

	"github.com/hashicorp/raft"
)

// Source is a copy that another node gets. The journal keeps its files until Close, which must be called.
type Source struct {
	store *Store
	files []*file
	sent  func()
	ended chan struct{}
	once  sync.Once
	buf   []byte

	next               request // of the first block that may still be asked for
	given, kept, total int64   // bytes that were sent, that the other node had, and of the whole
}

// file is a file of a Source.
type file struct {
	File
	io.ReaderAt
	release func()
}

// Sending are the copies that a node sends. Figures count since its start.
type Sending struct {
	Now          int    // how many
	Sent, Spared uint64 // bytes that were sent, and that the other nodes had already
}

// sending are the copies that a node sends.
type sending struct {
	turns chan struct{} // has an element for each
	rate  limiter

	mu    sync.Mutex
	now   map[*Source]struct{}
	total Sending
}

// Sending describes the copies that the node sends.
func (s *Store) Sending() Sending {
	s.sending.mu.Lock()
	defer s.sending.mu.Unlock()
	all := s.sending.total
	all.Now = len(s.sending.now)
	return all
}

// full passes on that the disk is full, or no longer: then the files of copies are needed for what removes messages, and the copies end (CLU-29).
func (s *Store) full(is bool) {
	if is {
		s.sending.end()
	}
	if s.cfg.OnFull != nil {
		s.cfg.OnFull(is)
	}
}

// end ends all copies.
func (s *sending) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.now {
		c.end()
	}
}

// source returns the data as they are after the last entry, when it is the turn of another copy. Entries are applied while it is sent. Errors: the node ends, or of the disk.
func (s *Store) source() (*raft.SnapshotMeta, io.ReadCloser, error) {
	select {
	case s.sending.turns <- struct{}{}:
	case <-s.cfg.Ended:
		return nil, nil, errEnds
	}
	state, cut, sent, err := s.cfg.Cut()
	if err != nil {
		<-s.sending.turns
		return nil, nil, err
	}
	c := &Source{store: s, sent: sent, ended: make(chan struct{}), buf: make([]byte, answerHead+blockSize)}
	s.sending.mu.Lock()
	s.sending.now[c] = struct{}{}
	s.sending.mu.Unlock()
	if err := c.open(cut); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	meta := state.meta()
	meta.Size = c.total
	return meta, c, nil
}

var errEnds = errors.New("the node ends")

// open takes over the files of a cut. The definitions are copied, as they must be released soon.
func (c *Source) open(cut *Cut) error {
	for _, f := range cut.Journal.Files {
		c.add(segment.Folder+"/"+f.Name, f.Size, f, f.Release)
	}
	defer cut.Definitions.Release()
	f, err := os.CreateTemp(c.store.cfg.Dir, spoolPrefix)
	if err != nil {
		return err
	}
	c.add(definitions.FileName, cut.Definitions.Size, f, func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) })
	_, err = cut.Definitions.WriteTo(f)
	return err
}

// spoolPrefix begins the name of a file with the definitions of a copy that is being sent.
const spoolPrefix = "sending-"

func (c *Source) add(name string, size int64, r io.ReaderAt, release func()) {
	c.files = append(c.files, &file{File{name, size}, r, release})
	c.total += size
}

// Read implements io.Reader, for raft. The bytes of a copy are in no order: see Serve.
func (c *Source) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Close implements io.Closer: the files are released.
func (c *Source) Close() error {
	c.end()
	for _, f := range c.files {
		f.release()
	}
	s := &c.store.sending
	s.mu.Lock()
	delete(s.now, c)
	s.mu.Unlock()
	c.sent()
	<-s.turns
	return nil
}

// end makes Serve return.
func (c *Source) end() { c.once.Do(func() { close(c.ended) }) }

// Serve sends what another node lacks of the copy, as it asks for it, and waits until the node has installed it. A connection that is idle for a minute, or has lasted
// for an hour, is closed. Errors: of the connection, the disk or the other node.
func (c *Source) Serve(conn net.Conn, call *raft.InstallSnapshotRequest, a *raft.InstallSnapshotResponse) (err error) {
	served := make(chan struct{})
	defer close(served)
	go c.watch(conn, served)
	began := time.Now()
	c.store.cfg.Log.Info().Uint64("entry", call.LastLogIndex).Int64("bytes", c.total).Msg("a copy of the data is offered to a node")
	defer func() {
		c.store.cfg.Log.Info().Err(err).Uint64("entry", call.LastLogIndex).Int64("bytes_sent", c.given).Int64("bytes_spared", c.kept).
			Int64("took_ms", time.Since(began).Milliseconds()).Msg("the copy of the data has ended")
	}()
	o := Offer{Call: *call}
	for _, f := range c.files {
		o.Files = append(o.Files, f.File)
	}
	if err := send(conn, &o); err != nil {
		return err
	}
	for {
		_ = conn.SetDeadline(time.Now().Add(idle))
		q, err := readRequest(conn)
		if err != nil {
			return err
		}
		if q.file == complete {
			break
		}
		if err := c.answer(conn, q); err != nil {
			return err
		}
	}
	var r result
	if err := receive(conn, settling, maxResult, &r); err != nil {
		return err
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	*a = r.Response
	return nil
}

// watch closes the connection when the copy must end.
func (c *Source) watch(conn net.Conn, served chan struct{}) {
	t := time.NewTimer(lifetime)
	defer t.Stop()
	select {
	case <-c.ended:
	case <-c.store.cfg.Ended:
	case <-t.C:
	case <-served:
		return
	}
	_ = conn.Close()
}

// answer sends a block, or that the other node has it. Blocks are asked for in their order, so that a copy ends.
func (c *Source) answer(conn net.Conn, q request) error {
	if q.file < c.next.file || q.file == c.next.file && q.block < c.next.block || q.file >= uint32(len(c.files)) || q.block >= c.files[q.file].blocks() {
		return fmt.Errorf("block %d of file %d is not to be asked for", q.block, q.file)
	}
	c.next = request{file: q.file, block: q.block + 1}
	f := c.files[q.file]
	b := c.buf[:answerHead+f.length(q.block)]
	content := b[answerHead:]
	if n, err := f.ReadAt(content, int64(q.block)*blockSize); n < len(content) {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	sum := crc32.Checksum(content, castagnoli)
	spared := q.has && q.sum == sum
	if b[0] = bytesFollow; spared {
		b[0] = same
		b = b[:1]
	} else if !c.store.sending.rate.wait(len(content), c.ended, c.store.cfg.Ended) {
		return errEnds
	}
	c.count(len(content), spared)
	if !spared {
		binary.BigEndian.PutUint32(b[1:], sum)
	}
	_ = conn.SetDeadline(time.Now().Add(idle))
	_, err := conn.Write(b)
	return err
}

func (c *Source) count(n int, spared bool) {
	s := &c.store.sending
	s.mu.Lock()
	defer s.mu.Unlock()
	if spared {
		c.kept += int64(n)
		s.total.Spared += uint64(n)
		return
	}
	c.given += int64(n)
	s.total.Sent += uint64(n)
}

// limiter limits how fast bytes go, all together.
type limiter struct {
	rate int64 // bytes per second; 0 for no limit

	mu   sync.Mutex
	next time.Time // when the next bytes may go
}

// wait waits until so many bytes may go; false if one of the two ends before.
func (l *limiter) wait(n int, ended, ends <-chan struct{}) bool {
	if l.rate <= 0 {
		return true
	}
	l.mu.Lock()
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	at := l.next
	l.next = at.Add(time.Duration(float64(n) / float64(l.rate) * float64(time.Second)))
	l.mu.Unlock()
	if !at.After(now) {
		return true
	}
	t := time.NewTimer(at.Sub(now))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ended:
		return false
	case <-ends:
		return false
	}
}
