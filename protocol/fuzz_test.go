package protocol

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// The fuzz targets assert: nothing panics, every error is a *ConnectionError whose text fits on the wire, and a decoded
// value encodes to bytes that decode to an equal one.

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *ConnectionError
	if !errors.As(err, &e) || len(e.Text) > 255 {
		t.Fatalf("got %#v", err)
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, s := range methodSamples {
		f.Add(AppendMethodFrame(nil, 1, s.method), uint32(FrameMinSize))
	}
	f.Add(AppendHeaderFrame(nil, 1, 5, everyProperty.Append(nil)), uint32(131072))
	f.Add(AppendBodyFrames(nil, 1, []byte("hello"), 0), uint32(0))
	f.Add(AppendHeartbeat(nil), uint32(12))
	f.Fuzz(func(t *testing.T, b []byte, frameMax uint32) {
		frame, n, need, err := ParseFrame(b, frameMax)
		switch {
		case err != nil:
			checkError(t, err)
			return
		case n == 0:
			if need <= len(b) || frameMax != 0 && need > int(frameMax)+FrameOverhead && len(b) >= frameHeaderSize {
				t.Fatalf("needs %d, has %d, frame max %d", need, len(b), frameMax)
			}
			return
		case n > len(b) || len(frame.Payload) != n-FrameOverhead:
			t.Fatalf("n %d of %d, payload %d", n, len(b), len(frame.Payload))
		}
		again := appendFrameHeader(nil, frame.Type, frame.Channel, len(frame.Payload))
		if again = append(append(again, frame.Payload...), FrameEnd); !bytes.Equal(again, b[:n]) {
			t.Fatalf("got %x, want %x", again, b[:n])
		}
	})
}

func FuzzDecodeMethod(f *testing.F) {
	for _, s := range methodSamples {
		f.Add(payload(s.method))
	}
	f.Add(payload(&ConnectionStart{ServerProperties: everyType}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMethod(b)
		checkViews(t, b, m)
		if err != nil {
			checkError(t, err)
			return
		}
		again, err := DecodeMethod(payload(m))
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("got %+v, %v, want %+v", again, err, m)
		}
	})
}

// checkViews compares the views of the hot path with the method, which is nil if it could not be decoded.
func checkViews(t *testing.T, b []byte, m Method) {
	class, method, _ := MethodKey(b)
	switch {
	case class == 60 && method == 40:
		var v PublishView
		if err := DecodePublish(b, &v); (err == nil) != (m != nil) {
			t.Fatalf("DecodePublish: %v, DecodeMethod: %v", err, m)
		} else if err == nil && *m.(*BasicPublish) != (BasicPublish{string(v.Exchange), string(v.RoutingKey), v.Mandatory, v.Immediate}) {
			t.Fatalf("DecodePublish: %v, DecodeMethod: %v", v, m)
		}
	case class == 60 && method == 80:
		tag, multiple, err := DecodeAck(b)
		if (err == nil) != (m != nil) || err == nil && *m.(*BasicAck) != (BasicAck{tag, multiple}) {
			t.Fatalf("DecodeAck: %d %v %v, DecodeMethod: %v", tag, multiple, err, m)
		}
	}
}

func FuzzDecodeTable(f *testing.F) {
	for _, table := range []Table{nil, kv, everyType, nested(128)} {
		f.Add(encode(f, table))
	}
	for _, field := range everyType {
		f.Add(encode(f, Table{field}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := DecodeTable(b)
		if check := checkTable(b); (check == nil) != (err == nil) {
			t.Fatalf("checkTable: %v, DecodeTable: %v", check, err)
		}
		_, _, _ = LookupField(b, "k")
		if err != nil {
			checkError(t, err)
			return
		}
		again, err := DecodeTable(encode(t, table))
		if err != nil || !reflect.DeepEqual(again, table) {
			t.Fatalf("got %#v, %v, want %#v", again, err, table)
		}
		for _, field := range table[:min(len(table), 16)] {
			want, _ := table.Get(field.Key)
			if got, ok, err := LookupField(b, field.Key); !ok || err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: got %#v, %v, %v, want %#v", field.Key, got, ok, err, want)
			}
		}
	})
}

func addProperties(f *testing.F) {
	f.Add([]byte{0, 0})
	f.Add(everyProperty.Append(nil))
	for flag := FlagContentType; flag >= FlagClusterID; flag >>= 1 {
		p := everyProperty
		p.Flags = flag
		f.Add(p.Append(nil))
	}
}

func FuzzScanProperties(f *testing.F) {
	addProperties(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ScanProperties(raw)
		p, decodeErr := DecodeProperties(raw)
		if (err == nil) != (decodeErr == nil) {
			t.Fatalf("ScanProperties: %v, DecodeProperties: %v", err, decodeErr)
		}
		if err != nil {
			checkError(t, err)
			return
		}
		got := Properties{
			DeliveryMode: s.DeliveryMode, Priority: s.Priority, Expiration: string(s.Expiration), UserID: string(s.UserID),
			ReplyTo: string(s.ReplyTo), CorrelationID: string(s.CorrelationID), MessageID: string(s.MessageID), Timestamp: Timestamp(s.Timestamp), AppID: string(s.AppID),
		}
		if s.Headers != nil {
			if got.Headers, err = DecodeTable(s.Headers); err != nil {
				t.Fatal(err)
			}
		}
		want := p
		want.ContentType, want.ContentEncoding, want.Type, want.ClusterID, want.Flags = "", "", "", "", 0
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("scanned %+v, decoded %+v", got, want)
		}
		has := [5]bool{s.HasPriority, s.HasExpiration, s.HasUserID, s.HasTimestamp, s.HasAppID}
		if has != [5]bool{p.Has(FlagPriority), p.Has(FlagExpiration), p.Has(FlagUserID), p.Has(FlagTimestamp), p.Has(FlagAppID)} {
			t.Fatalf("scanned %+v, decoded %+v", s, p)
		}
	})
}

func FuzzDecodeProperties(f *testing.F) {
	addProperties(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := DecodeProperties(raw)
		if err != nil {
			checkError(t, err)
			return
		}
		again, err := DecodeProperties(p.Append(nil))
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("got %+v, %v, want %+v", again, err, p)
		}
	})
}
