package wire

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"candlemark/internal/storage/cluster/pace"
)

// Versions of what nodes say to each other and write into the log that this program knows.
const (
	oldest = 1
	Newest = 2
)

// Places is the first version whose nodes know the addresses of members from the log; before it only the settings had them.
const Places = 2

// Patience is how long a hello may take.
const Patience = 5 * time.Second

const maxHello = 8 << 10 // bytes

// Kinds of connections.
const (
	KindLog = "log" // of the replicated log
	// KindCopy carries a copy of the data (CLU-28).
	KindCopy = "copy"
	KindAsk  = "ask" // one question: who are you?
	// KindJoin is the same question of a node that wants to be a member, with an empty folder or instead of an earlier life.
	KindJoin = "join"
	// KindClient carries the bytes of a client of another node to the leader (CLU-20).
	KindClient = "client"
)

// Client describes a client of the dialing node, in a Hello of KindClient.
type Client struct {
	Listener string `json:"listener"` // what it speaks: amqp, amqps, http …
	Remote   string `json:"remote"`   // its own address, host:port
	Local    string `json:"local"`    // the address that it has called
	Term     uint64 `json:"term"`     // of the leader that is meant
}

// Hello is the first message of a dialer.
type Hello struct {
	Oldest  int    `json:"oldest"` // version that it accepts: the level of its cluster
	Newest  int    `json:"newest"` // version that it knows
	Group   int    `json:"group"`  // 0: a cluster has one
	Kind    string `json:"kind"`
	Cluster string `json:"cluster"` // "" while it is not formed
	Members string `json:"members"` // Roster of the settings
	From    string `json:"from"`    // identity: name and life
	To      string `json:"to"`      // identity of who is called; "" in a question
	Place   string `json:"place"`   // where From is: its address for nodes, and those for clients, with spaces between them
	Voted   bool   `json:"voted"`   // it is or was a voter of its cluster
	Wall    int64  `json:"wall"`    // its wall clock, ns since 1970
	Nonce   []byte `json:"nonce"`

	Client *Client `json:"client,omitempty"` // in KindClient
	Report bool    `json:"report,omitempty"` // in KindAsk: how are you?
	Joins  bool    `json:"joins,omitempty"`  // in KindAsk: could a new life of the caller become a member? Older programs do not say
}

// Answer is the reply of an acceptor to a dialer that has the secret.
type Answer struct {
	Error   string `json:"error,omitempty"`
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
	Node    string `json:"node"`    // identity
	Place   string `json:"place"`   // where it is, as in Hello
	Members string `json:"members"` // Roster of the settings
	Leader  string `json:"leader"`  // the address of the leader, "" if none is known
	Applied uint64 `json:"applied"` // the last entry that it has

	Report json.RawMessage `json:"report,omitempty"` // how the node is; older ones do not say it
	Pace   pace.Sample     `json:"pace"`             // how long its last writes took, in answers with Report
}

// challenge is the reply to a Hello: the acceptor has the secret, and asks the dialer to show that it has it, too.
type challenge struct {
	Nonce []byte `json:"nonce"`
	Sum   []byte `json:"sum"`
}

type proof struct {
	Sum []byte `json:"sum"`
}

// Errors of a hello.
var (
	// ErrSecret: the other side has another secret.
	ErrSecret = errors.New("the secret of the cluster differs")
	// ErrRefused is wrapped by the reasons that the other side gave.
	ErrRefused = errors.New("refused")
	errEnded   = errors.New("the other node has ended the hello, perhaps because only one of the two uses TLS; its log has the reason")
	errHello   = errors.New("what was received is no hello of a node; perhaps only one of the two uses TLS")
)

const magic = "CmNode\x00\x01"

// send writes a part of the hello and returns its bytes.
func send(w io.Writer, prefix string, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	frame := binary.BigEndian.AppendUint32([]byte(prefix), uint32(len(b)))
	_, err = w.Write(append(frame, b...))
	return b, err
}

func receive(r io.Reader, prefix string, v any) ([]byte, error) {
	head := make([]byte, len(prefix)+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[len(prefix):])
	if string(head[:len(prefix)]) != prefix || n > maxHello {
		return nil, errHello
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return nil, errHello
	}
	return b, nil
}

func sumOf(secret []byte, who string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(who))
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}

func nonce() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return b
}

// complete adds the versions of the program to a Hello without versions.
func (h *Hello) complete() { h.Oldest, h.Newest = max(h.Oldest, oldest), cmp.Or(h.Newest, Newest) }

// greet says hello on a new connection. Errors: ErrSecret, ErrRefused, or of the connection.
func greet(conn net.Conn, secret []byte, h Hello) (a Answer, err error) {
	h.Nonce = nonce()
	h.complete()
	_ = conn.SetDeadline(time.Now().Add(Patience))
	hello, err := send(conn, magic, h)
	if err != nil {
		return a, err
	}
	var c challenge
	challenged, err := receive(conn, "", &c)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		err = fmt.Errorf("%w: %w", errEnded, err)
	}
	if err != nil {
		return a, err
	}
	if !hmac.Equal(c.Sum, sumOf(secret, "acceptor", hello, c.Nonce)) {
		_, _ = send(conn, "", proof{})
		return a, ErrSecret
	}
	if _, err := send(conn, "", proof{sumOf(secret, "dialer", hello, challenged)}); err != nil {
		return a, err
	}
	answered, err := receive(conn, "", &a)
	if err != nil {
		return Answer{}, err
	}
	var p proof
	if _, err := receive(conn, "", &p); err != nil {
		return Answer{}, err
	}
	switch {
	case !hmac.Equal(p.Sum, sumOf(secret, "answer", hello, challenged, answered)):
		return Answer{}, ErrSecret
	case a.Error != "":
		return a, fmt.Errorf("%w: %s", ErrRefused, a.Error)
	}
	return a, conn.SetDeadline(time.Time{})
}

// welcome answers a hello. judge returns the answer; its error is for the dialer and for the caller. It is called only if the dialer has the
// secret. own has the versions of the acceptor.
func welcome(conn net.Conn, secret []byte, own Hello, judge func(Hello) Answer) (Hello, error) {
	_ = conn.SetDeadline(time.Now().Add(Patience))
	var h Hello
	hello, err := receive(conn, magic, &h)
	if err != nil {
		return h, err
	}
	c := challenge{Nonce: nonce()}
	c.Sum = sumOf(secret, "acceptor", hello, c.Nonce)
	challenged, err := send(conn, "", c)
	if err != nil {
		return h, err
	}
	var p proof
	if _, err := receive(conn, "", &p); err != nil {
		return h, err
	}
	if !hmac.Equal(p.Sum, sumOf(secret, "dialer", hello, challenged)) {
		return h, ErrSecret
	}
	a := judged(own, h, judge)
	answered, err := send(conn, "", a)
	if err != nil {
		return h, err
	}
	if _, err := send(conn, "", proof{sumOf(secret, "answer", hello, challenged, answered)}); err != nil {
		return h, err
	}
	if a.Error != "" {
		return h, fmt.Errorf("%w: %s", ErrRefused, a.Error)
	}
	return h, conn.SetDeadline(time.Time{})
}

// judged returns the answer to the hello of a node that has the secret.
func judged(own, h Hello, judge func(Hello) Answer) (a Answer) {
	own.complete()
	switch {
	case h.Oldest > own.Newest || h.Newest < own.Oldest:
		a.Error = fmt.Sprintf("this node accepts versions %d to %d of the protocol of clusters, the other one %d to %d: one of the two programs is too old", own.Oldest, own.Newest, h.Oldest, h.Newest)
	case h.Group != 0:
		a.Error = fmt.Sprintf("there is no group %d", h.Group)
	default:
		a = judge(h)
	}
	a.Version = min(own.Newest, h.Newest)
	return a
}
