package history

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// at returns a time in ms, with fractions.
func at(ms float64) clock.Instant { return clock.Instant(ms * float64(time.Millisecond)) }

func text(body string) *message.Message {
	return &message.Message{Body: []byte(body), TTL: message.NoTTL}
}

func with(headers ...protocol.Field) *message.Message {
	p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: headers}
	return &message.Message{Header: p.Append(nil), TTL: message.NoTTL}
}

func (h *History) keeps(m *message.Message) bool {
	_, kept := h.Keep(m, 0)
	return kept
}

func bodies(list []message.Message) (all []string) {
	for i := range list {
		all = append(all, string(list[i].Body))
	}
	return all
}

func TestDEC17_TheLastOnesInOrder(t *testing.T) {
	h := New(3, nil)
	for n := range 5 {
		if m, kept := h.Keep(text(fmt.Sprint(n)), 0); !kept || string(m.Body) != fmt.Sprint(n) {
			t.Error(n)
		}
	}
	if got := bodies(h.Replay(0)); !slices.Equal(got, []string{"2", "3", "4"}) || h.Len() != 3 || h.Bytes() != 3*(MessageBytes+1) {
		t.Error(got, h.Bytes())
	}
	h.Clear()
	if h.Len() != 0 || h.Bytes() != 0 || h.Replay(0) != nil {
		t.Error("not empty")
	}
}

// TestDEC17_OwnMemory: kept messages are copied out of the block that they arrived in.
func TestDEC17_OwnMemory(t *testing.T) {
	h := New(1, nil)
	block := []byte("body")
	h.Keep(&message.Message{Body: block, TTL: message.NoTTL, Owned: true, Number: 7}, 0)
	copy(block, "gone")
	m := h.Replay(0)[0]
	if string(m.Body) != "body" || !m.Owned || m.Number != 0 {
		t.Errorf("%+v", m)
	}
	h.Keep(&message.Message{Body: make([]byte, message.ShareFrom+1)}, 0)
	h.Keep(&message.Message{Body: make([]byte, message.ShareFrom+1), TTL: message.NoTTL}, 0)
	if h.Replay(0)[0].Share == nil {
		t.Error("queues would count a large content once each")
	}
}

func TestDEC17_NoStore(t *testing.T) {
	h := New(20, nil)
	for _, c := range []struct {
		value any
		kept  bool
	}{{true, false}, {false, true}, {"true", true}, {int32(1), true}} {
		if h.keeps(with(protocol.Field{Key: topology.NoHistoryHeader, Value: c.value})) != c.kept {
			t.Error(c)
		}
	}
	if !h.keeps(with(protocol.Field{Key: "other", Value: true})) || h.Len() != 4 {
		t.Error(h.Len())
	}
}

// TestDEC17_TimeIsNotGivenAnew: the TTL left at a replay is never too short, and too long by less than 1 ms.
func TestDEC17_TimeIsNotGivenAnew(t *testing.T) {
	h := New(20, nil)
	m := text("a")
	m.TTL = 100
	h.Keep(m, at(0.5)) // until 101
	for _, c := range []struct {
		now  float64
		left int64
	}{{0.5, 100}, {1, 100}, {40.2, 60}, {99.9, 1}, {100.5, 1}, {100.999, 1}, {101, -2}, {500, -2}} {
		left := int64(-2)
		if list := h.Replay(at(c.now)); len(list) > 0 {
			left = list[0].TTL
		}
		if h.Live(at(c.now)) != (c.left > 0) || (h.Len() > 0) != (c.left > 0) {
			t.Errorf("at %v: kept and due, or the other way round", c.now)
		}
		if left != c.left {
			t.Errorf("at %v: %d, want %d", c.now, left, c.left)
		}
	}
	m.TTL = 0
	if h.keeps(m) {
		t.Error("now or never is not later")
	}
	m.TTL = never
	if h.Keep(m, at(5)); h.Replay(at(1e9))[0].TTL != never {
		t.Error("a TTL without end")
	}
}

// TestHistoryIsBounded: length and bytes are limited for any declared length.
func TestHistoryIsBounded(t *testing.T) {
	h := New(1<<62, nil)
	for range MaxLength + 5 {
		h.Keep(text(""), 0)
	}
	if h.Len() != MaxLength {
		t.Error(h.Len())
	}
	large := text(string(make([]byte, MaxBytes/4)))
	for range 10 {
		if !h.keeps(large) || h.Bytes() > MaxBytes {
			t.Fatal(h.Bytes())
		}
	}
	if h.Len() != 3 {
		t.Error(h.Len())
	}
	if h.keeps(text(string(make([]byte, MaxBytes)))) || h.Len() != 3 {
		t.Error("one that no history holds drives the others out")
	}
}

// TestHistoriesAreBoundedTogether: a history that wants to keep a message without room drops its own oldest ones, or does not
// keep it; cleared room can be used again.
func TestHistoriesAreBoundedTogether(t *testing.T) {
	var room budget.Room
	room.SetLimit(10 * MessageBytes)
	var all []*History
	for range 5 {
		h := New(4, &room)
		for n := range 4 {
			h.Keep(&message.Message{Priority: uint8(n), TTL: message.NoTTL}, 0)
			if room.Used() > 10*MessageBytes {
				t.Fatal(room.Used())
			}
		}
		all = append(all, h)
	}
	for i, want := range []int{4, 4, 2, 0, 0} {
		if all[i].Len() != want {
			t.Errorf("%d holds %d, want %d", i, all[i].Len(), want)
		}
	}
	if list := all[2].Replay(0); list[0].Priority != 2 || list[1].Priority != 3 {
		t.Error("not the last ones")
	}
	all[0].Clear()
	if !all[4].keeps(text("")) || room.Used() != 7*MessageBytes {
		t.Error(room.Used())
	}
}
