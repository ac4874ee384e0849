package cluster

import (
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/cluster/clocks"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// sampleEntry has every field of a record.
func sampleEntry() []operation {
	body := []byte(strings.Repeat("body ", 300))
	full := store.Record{
		Kind: store.Put, Time: -5, First: 1 << 60, Last: 1 << 60, Again: true, Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte("h"), Body: body,
		Overlay: []byte("o"), Deadline: store.Never, TTL: -1, Priority: 9, Due: 77, Until: 88, TTLThen: 99, Origin: store.Origin{Queue: 3, Seq: 4},
	}
	note := store.Record{Kind: store.Put, First: 2, Last: 2, Note: true, Deadline: 7, TTL: 8, Exchange: []byte{}, RoutingKey: []byte{}, Header: []byte{}, Overlay: []byte{}, Body: []byte("short")}
	shared := note
	shared.Body = body
	change := &definitions.Change{Put: []any{auth.VHost{Name: "v"}}}
	encoded, _ := change.Encode()
	return []operation{
		{begin: true},
		{queue: 1 << 40, records: []store.Record{full, note}},
		{change: change, encoded: encoded},
		{queue: 2, records: []store.Record{shared, {Kind: store.Remove, First: 5, Last: 1 << 50, Why: store.Acked, Time: 1}}},
	}
}

func TestEntry_CLU1(t *testing.T) {
	list := sampleEntry()
	b := encodeEntry(origin{7, 8, 9}, list)
	if o, err := checkEntry(b); err != nil || o != (origin{7, 8, 9}) {
		t.Fatalf("%+v, %v", o, err)
	}
	got, err := decodeEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].encoded = nil
	}
	if !reflect.DeepEqual(got, list) {
		t.Errorf("got\n%+v\nwant\n%+v", got, list)
	}
	if n := strings.Count(string(b), "body body body"); n > 110 {
		t.Errorf("a body that two queues share is in the entry more than once: %d", n)
	}
}

// TestEntry_CLU8: damage is noticed, and what is no entry makes no panic.
func TestEntry_CLU8(t *testing.T) {
	b := encodeEntry(origin{7, 8, 9}, sampleEntry())
	for i := range b {
		b[i] ^= 16
		if _, err := checkEntry(b); err == nil {
			t.Errorf("a flipped bit at %d was accepted", i)
		}
		_, _ = decodeEntry(b) // whatever it is
		b[i] ^= 16
	}
	for n := range b {
		if _, err := checkEntry(b[:n]); err == nil {
			t.Errorf("%d bytes were accepted", n)
		}
		_, _ = decodeEntry(b[:n])
	}
	b[0] = 9
	binary.LittleEndian.PutUint32(b[1:], crc32.Checksum(b[sumFrom:], castagnoli))
	if _, err := checkEntry(b); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("a later version: %v", err)
	}
}

// alone is a node that knows nothing.
type alone struct{}

func (alone) remark(bool) []byte                                   { return nil }
func (alone) now() int64                                           { return 0 }
func (alone) hear(string, remark)                                  {}
func (alone) answered(raft.ServerID, []byte, uint64, int64, error) {}
func (alone) took(raft.ServerID, uint64, int64)                    {}
func (alone) term() uint64                                         { return 0 }
func (alone) trusted(position, string) bool                        { return true }

// twoPorts returns the ports of two nodes; the first is the address of both.
func twoPorts(t *testing.T) (to, from *wire.Port) {
	var addresses func(string) []string
	listen := func(identity string) *wire.Port {
		p, err := wire.Listen("127.0.0.1:0", wire.Config{
			Secret: []byte("secret"), Log: zerolog.Nop(), Lost: func(string) {}, Judge: func(wire.Hello) wire.Answer { return wire.Answer{} },
			Hello: func() wire.Hello { return wire.Hello{From: identity} }, Addresses: func(to string) []string { return addresses(to) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	to, from = listen("n1/1"), listen("n2/2")
	addresses = func(string) []string { return []string{to.Addr().String()} }
	return to, from
}

// TestNoVotesAtTheStart_CLU6: a node that has just started refuses to vote.
func TestNoVotesAtTheStart_CLU6(t *testing.T) {
	to, from := twoPorts(t)
	starting := newTransport("n1/1", to, time.Hour, hclog.NewNullLogger())
	defer starting.Close()
	caller := newTransport("n2/2", from, time.Hour, hclog.NewNullLogger())
	defer caller.Close()
	starting.node, caller.node = alone{}, alone{}
	err := caller.RequestVote("n1/1", "n1/1", &raft.RequestVoteRequest{Term: 9}, &raft.RequestVoteResponse{})
	if err == nil || !strings.Contains(err.Error(), errEarly.Error()) {
		t.Errorf("a vote: %v", err)
	}
	err = caller.RequestPreVote("n1/1", "n1/1", &raft.RequestPreVoteRequest{Term: 9}, &raft.RequestPreVoteResponse{})
	if err == nil || !strings.Contains(err.Error(), errEarly.Error()) {
		t.Errorf("a vote before the election: %v", err)
	}
}

// TestRemark_CLU11: remarks of other nodes, and what is none.
func TestRemark_CLU11(t *testing.T) {
	stamp := clocks.Stamp{Kind: clocks.Leads, Term: 3, Time: 4, Wall: 5}
	b := appendPosition(stamp.Append([]byte("n1/1")), position{6, 7})
	b = append(binary.LittleEndian.AppendUint64(b, 99), 2, 4)
	b = appendPosition(append(b, "n2/2"...), position{8, 9})
	b = appendPosition(append(append(b, 4), "n3/3"...), position{10, 11})
	address, r := readRemark(b)
	want := remark{stamp, position{6, 7}, 99, map[string]position{"n2/2": {8, 9}, "n3/3": {10, 11}}}
	if string(address) != "n1/1" || !reflect.DeepEqual(r, want) {
		t.Errorf("%s, %+v", address, r)
	}
	for n := range b {
		if _, r := readRemark(b[:n]); len(r.seen) == 2 {
			t.Errorf("%d bytes: %+v", n, r)
		}
	}
}
