package copies

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net"
	"path/filepath"
	"strings"
	"time"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"

	"github.com/hashicorp/raft"
)

// Bounds of what the two nodes say to each other (CLU-29).
const (
	blockSize = 1 << 20 // bytes of a file in an answer
	maxOffer  = 16 << 20
	maxResult = 64 << 10
	maxName   = 200
	// idle is how long one node waits for the other. A block takes at most a second at the lowest rate.
	idle = time.Minute
	// settling is how long a node may take to open a copy that is complete.
	settling = 5 * time.Minute
	// lifetime is how long a copy may take: the next one goes on where it has ended.
	lifetime = time.Hour
	// maxSending is how many copies a node sends at the same time; others wait.
	maxSending = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Offer is the first thing that the sender of a copy says.
type Offer struct {
	Call  raft.InstallSnapshotRequest `json:"call"`
	Files []File                      `json:"files"`
}

// File is a file of a copy.
type File struct {
	Name string `json:"name"` // relative to the folder of the data, with /
	Size int64  `json:"size"` // bytes
}

// blocks returns how many blocks the file has.
func (f File) blocks() uint32 { return uint32((f.Size + blockSize - 1) / blockSize) }

// length returns how many bytes a block has.
func (f File) length(block uint32) int64 { return min(blockSize, f.Size-int64(block)*blockSize) }

// maxFile is the largest size of a file, bytes.
const maxFile = math.MaxUint32 / 2 * blockSize

// check returns an error if the files cannot be a copy.
func (o *Offer) check() error {
	seen := map[string]bool{}
	for _, f := range o.Files {
		base, inJournal := strings.CutPrefix(f.Name, segment.Folder+"/")
		if !filepath.IsLocal(base) || strings.ContainsAny(base, `/\`) || len(base) > maxName || !inJournal && f.Name != definitions.FileName || f.Size < 0 || f.Size > maxFile {
			return fmt.Errorf("a copy has no file %q of %d bytes", f.Name, f.Size)
		}
		if seen[f.Name] {
			return fmt.Errorf("a copy has the file %q only once", f.Name)
		}
		seen[f.Name] = true
	}
	if !seen[definitions.FileName] {
		return errors.New("a copy has definitions")
	}
	return nil
}

// result is the last thing that the receiver says.
type result struct {
	Response raft.InstallSnapshotResponse `json:"response"`
	Error    string                       `json:"error,omitempty"`
}

// ReadOffer reads the offer of the sender of a copy.
func ReadOffer(conn net.Conn) (o *Offer, err error) {
	o = &Offer{}
	if err = receive(conn, idle, maxOffer, o); err == nil {
		err = o.check()
	}
	return o, err
}

// request asks for a block. The sender of the copy answers same if the sum of the block is the one that the receiver has.
type request struct {
	file, block uint32
	has         bool
	sum         uint32
}

// complete, as the number of a file, says that nothing is lacking.
const complete = math.MaxUint32

const requestSize = 13

func (r request) encode() []byte {
	b := binary.BigEndian.AppendUint32(nil, r.file)
	b = binary.BigEndian.AppendUint32(b, r.block)
	flag := byte(0)
	if r.has {
		flag = 1
	}
	return binary.BigEndian.AppendUint32(append(b, flag), r.sum)
}

func readRequest(r io.Reader) (q request, err error) {
	var b [requestSize]byte
	if _, err = io.ReadFull(r, b[:]); err != nil {
		return q, err
	}
	return request{binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint32(b[4:]), b[8] == 1, binary.BigEndian.Uint32(b[9:])}, nil
}

// Answers to a request. Behind bytesFollow come the sum of the block and its bytes.
const (
	same        = 's'
	bytesFollow = 'b'
)

const answerHead = 5

func send(conn net.Conn, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Now().Add(idle))
	_, err = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// receive reads what send has sent, of at most so many bytes.
func receive(conn net.Conn, patience time.Duration, most uint32, v any) error {
	_ = conn.SetDeadline(time.Now().Add(patience))
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > most {
		return fmt.Errorf("%d bytes, at most %d", n, most)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(conn, b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
