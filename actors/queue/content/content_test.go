package content

import (
	"testing"
	"time"

	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// start is the broker's start time in these tests, in wall ms.
const start = 1_800_000_000_000

func header(headers protocol.Table) []byte {
	return (&protocol.Properties{Flags: protocol.FlagHeaders | protocol.FlagMessageID | protocol.FlagPriority, Headers: headers, MessageID: "id", Priority: 7}).Append(nil)
}

func table(more ...any) (t protocol.Table) {
	for i := 0; i < len(more); i += 2 {
		t = append(t, protocol.Field{Key: more[i].(string), Value: more[i+1]})
	}
	return t
}

// TestTimes: each kind of queue reads its own headers, and dates are of the wall clock.
func TestTimes(t *testing.T) {
	const skew = 5000
	all := table("x-delay", int64(100), "x-deliver-at", int64(start+skew+300), "my-time", int64(start+skew+500), "gone", int64(start+skew+700))
	id := store.HashID("id")
	for name, row := range map[string]struct {
		reader  Reader
		headers protocol.Table
		overlay *message.Overlay
		want    Times
	}{
		"nothing":          {Reader{}, all, nil, Times{}},
		"holder":           {Reader{Holds: true}, all, nil, Times{Due: timeheaders.Due{At: start + 100}, ID: id}},
		"delay":            {Reader{Schedules: true}, table("x-delay", int64(100)), nil, Times{Due: timeheaders.Due{At: start + 100}, ID: id}},
		"date":             {Reader{Schedules: true}, all, nil, Times{Due: timeheaders.Due{At: start + 300, Dated: true}, ID: id}},
		"date of its own":  {Reader{Schedules: true, DeliverAt: "my-time"}, all, nil, Times{Due: timeheaders.Due{At: start + 500, Dated: true}, ID: id}},
		"held already":     {Reader{Schedules: true}, all, &message.Overlay{Held: true}, Times{}},
		"released already": {Reader{Schedules: true}, all, &message.Overlay{Delayed: 5}, Times{}},
		"not made out":     {Reader{Schedules: true}, table("x-delay", "soon"), nil, Times{}},
		"expires":          {Reader{ExpiresAt: "gone"}, all, nil, Times{Expires: start + 700, Dated: true}},
		"dead letter":      {Reader{ExpiresAt: "gone"}, all, &message.Overlay{DropExpiration: true}, Times{}},
		"both": {
			Reader{Schedules: true, ExpiresAt: "gone"},
			all, nil,
			Times{Due: timeheaders.Due{At: start + 300, Dated: true}, ID: id, Expires: start + 700, Dated: true},
		},
	} {
		dates := clock.Ahead(skew)
		row.reader.Dates = &dates
		m := message.Message{Header: header(row.headers), Overlay: row.overlay}
		scan := Scan(m.Header)
		if got := row.reader.Times(&m, &scan, clock.Instant(start*int64(time.Millisecond))); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
		if at, ok := row.reader.Expiry(m.Overlay, m.Header); at != row.want.Expires || ok != row.want.Dated {
			t.Errorf("%s: expires at %d, %v", name, at, ok)
		}
	}
}

// TestThereAndBack: a content paged out and read again equals the published one; other content is refused.
func TestThereAndBack(t *testing.T) {
	m := message.Message{Exchange: []byte("x"), RoutingKey: []byte("k"), Header: header(nil), Body: []byte("body"), TTL: 5, Priority: 9}
	var kept backlog.Record
	Keep(&kept, &m, 3, store.Never, start, 4, true)
	b := &backlog.Backlog{}
	h := b.PushPaged(&kept, uint32(len(m.Body)), 1)
	stored := store.Record{Kind: store.Put, Exchange: m.Exchange, RoutingKey: m.RoutingKey, Header: m.Header, Body: m.Body}
	for _, wrong := range []store.Record{{Body: []byte("longer"), Header: m.Header}, {Body: m.Body, Overlay: []byte{255, 255}}} {
		if PageIn(b, h, &wrong) || !b.IsPaged(h) {
			t.Errorf("%+v was taken", wrong)
		}
	}
	if !PageIn(b, h, &stored) {
		t.Fatal("refused")
	}
	var r backlog.Record
	b.Get(h, &r)
	got := Message(&r)
	if string(got.Exchange)+string(got.RoutingKey)+string(got.Body) != "xkbody" || got.Priority != 4 || Priority(&got) != 7 || MessageID(got.Header) != "id" {
		t.Errorf("%+v", got)
	}
}
