package amqp10

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// refused fails unless err is an *Error with this condition.
func refused(t testing.TB, err error, condition Symbol) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Condition != condition {
		t.Fatalf("got %v, want %s", err, condition)
	}
}

func TestParseFrame(t *testing.T) {
	whole := AppendFrame(nil, 7, &End{})
	if want := unhex(t, "0000000f"+"02000007"+"005317c0020140"); !bytes.Equal(whole, want) {
		t.Fatalf("got %x, want %x", whole, want)
	}
	for n := range whole {
		wantNeed := len(whole)
		if n < frameHeaderSize {
			wantNeed = frameHeaderSize
		}
		if _, read, need, err := ParseFrame(whole[:n:n], 512); read != 0 || need != wantNeed || err != nil {
			t.Errorf("%d bytes: got %d, need %d, %v", n, read, need, err)
		}
	}
	f, n, need, err := ParseFrame(append(whole, 1, 2, 3), 512)
	if want := (Frame{Channel: 7, Body: []byte{0, 0x53, 0x17, 0xc0, 2, 1, 0x40}}); err != nil || n != 15 || need != 15 || !reflect.DeepEqual(f, want) {
		t.Fatalf("got %+v, %d, %d, %v", f, n, need, err)
	}
	if p, payload, err := f.Decode(); err != nil || len(payload) != 0 || !reflect.DeepEqual(p, &End{}) {
		t.Fatalf("got %+v, %x, %v", p, payload, err)
	}
}

func TestParseFrameExtendedHeader(t *testing.T) {
	f, n, _, err := ParseFrame(unhex(t, "00000014"+"04000001"+"0102030405060708"+"00531845"), 512)
	if err != nil || n != 20 || !bytes.Equal(f.Body, unhex(t, "00531845")) {
		t.Fatalf("got %+v, %d, %v", f, n, err)
	}
}

func TestParseFrameBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		header  string
		maxSize uint32
	}{
		"larger than allowed":             {"00000401" + "02000000", 1024},
		"larger than the minimum":         {"00000201" + "02000000", 0},
		"shorter than its header":         {"00000007" + "02000000", 512},
		"data offset below the header":    {"00000010" + "01000000", 512},
		"data offset behind the end":      {"00000010" + "05000000", 512},
		"a type that there is not":        {"00000008" + "02020000", 512},
		"all sizes that there are":        {"ffffffff" + "02000000", 1 << 20},
		"the header of another protocol":  {"414d5150" + "00000901", 131072},
		"no data offset in an empty size": {"00000000" + "00000000", 512},
	} {
		_, n, _, err := ParseFrame(unhex(t, tt.header), tt.maxSize)
		if refused(t, err, FramingError); n != 0 {
			t.Errorf("%s: n %d", name, n)
		}
	}
	if _, _, need, err := ParseFrame(unhex(t, "00000200"+"02000000"), 0); err != nil || need != 512 {
		t.Errorf("512 bytes are always allowed: %d, %v", need, err)
	}
}

func TestHeartbeat(t *testing.T) {
	b := AppendHeartbeat(nil)
	f, n, _, err := ParseFrame(b, 512)
	if err != nil || n != 8 || len(f.Body) != 0 {
		t.Fatalf("got %+v, %d, %v", f, n, err)
	}
	if _, ok := f.Code(); ok {
		t.Error("a heartbeat has no performative")
	}
}

func TestFrameDecodeRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		kind      uint8
		body      string
		condition Symbol
	}{
		"a performative that there is not": {FrameAMQP, "00532045", DecodeError},
		"a name that there is not":         {FrameAMQP, "00a303616263" + "45", DecodeError},
		"SASL in an AMQP frame":            {FrameAMQP, "005341c0050" + "1a303414243", DecodeError},
		"AMQP in a SASL frame":             {FrameSASL, "00531845", DecodeError},
		"no description":                   {FrameAMQP, "531845", DecodeError},
		"payload behind an end":            {FrameAMQP, "0053174540", DecodeError},
		"a map in place of the list":       {FrameAMQP, "005317c10100", InvalidField},
		"a field too many":                 {FrameAMQP, "005317c003024040", InvalidField},
		"a field missing":                  {FrameAMQP, "00531645", InvalidField},
		"a field of another type":          {FrameAMQP, "005316c0020141", InvalidField},
		"a count that does not fit":        {FrameAMQP, "005316c0020243", DecodeError},
		"bytes behind the last field":      {FrameAMQP, "005316c003014343", DecodeError},
		"a size that does not fit":         {FrameAMQP, "005316c0090143", DecodeError},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Frame{Type: tt.kind, Body: unhex(t, tt.body)}.Decode()
			refused(t, err, tt.condition)
		})
	}
}

// joined parses the frames of a message, and returns its transfers and the joined payload.
func joined(t *testing.T, b []byte, maxSize uint32) (transfers []Transfer, payload []byte) {
	t.Helper()
	for len(b) > 0 {
		f, n, _, err := ParseFrame(b, maxSize)
		if err != nil || n == 0 {
			t.Fatalf("%d bytes left: %v", len(b), err)
		}
		b = b[n:]
		var p Transfer
		part, err := DecodeInto(f.Body, &p)
		if err != nil {
			t.Fatal(err)
		}
		if last := len(b) == 0; p.More == last || !last && n != int(maxSize) {
			t.Fatalf("frame of %d bytes, more %v, %d bytes behind it", n, p.More, len(b))
		}
		transfers, payload = append(transfers, p), append(payload, part...)
	}
	return transfers, payload
}

func TestAppendTransfer(t *testing.T) {
	full := Transfer{Handle: 3, DeliveryID: Some[uint32](1 << 20), DeliveryTag: []byte("0123456789abcdef"), MessageFormat: Some[uint32](0), Settled: true}
	for size := range 1200 {
		message := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		parts := [][]byte{message[:size/7], nil, message[size/7 : size/2], message[size/2:], {}}
		b := AppendTransfer(nil, 9, &full, MinMaxFrameSize, parts...)
		transfers, payload := joined(t, b, MinMaxFrameSize)
		if !bytes.Equal(payload, message) {
			t.Fatalf("%d bytes: got %d", size, len(payload))
		}
		for i, got := range transfers {
			want := Transfer{Handle: 3, More: i < len(transfers)-1}
			if i == 0 {
				want = full
				want.More = len(transfers) > 1
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%d bytes, frame %d: got %+v, want %+v", size, i, got, want)
			}
		}
	}
	if b := AppendTransfer(nil, 9, &full, 0xffffffff, make([]byte, 1<<20)); len(b) < 1<<20 || len(b) > 1<<20+64 {
		t.Errorf("without a limit %d bytes", len(b))
	}
}

func TestFramesDoNotAllocate(t *testing.T) {
	transfer := Transfer{Handle: 3, DeliveryID: Some[uint32](9), DeliveryTag: []byte("tag"), MessageFormat: Some[uint32](0), State: State{Kind: Accepted}}
	body := make([]byte, 10000)
	frame := AppendTransfer(nil, 1, &transfer, 1<<20, body)
	disposition := AppendFrame(nil, 1, &Disposition{First: 1, Last: Some[uint32](2), State: State{Kind: Modified, DeliveryFailed: true}})
	flow := AppendFrame(nil, 1, &Flow{Handle: Some[uint32](1), LinkCredit: Some[uint32](100)})
	out := make([]byte, 0, 1<<16)
	for name, f := range map[string]func(){
		"ParseFrame": func() { _, _, _, _ = ParseFrame(frame, 1<<20) },
		"need more":  func() { _, _, _, _ = ParseFrame(frame[:10], 1<<20) },
		"Code":       func() { _, _ = Frame{Body: frame[8:]}.Code() },
		"decode transfer": func() {
			var p Transfer
			_, _ = DecodeInto(frame[8:], &p)
		},
		"decode disposition": func() {
			var p Disposition
			_, _ = DecodeInto(disposition[8:], &p)
		},
		"decode flow": func() {
			var p Flow
			_, _ = DecodeInto(flow[8:], &p)
		},
		"append transfer": func() { out = AppendTransfer(out[:0], 1, &transfer, 4096, body[:10], body) },
		"append disposition": func() {
			out = AppendFrame(out[:0], 1, &Disposition{First: 1, Last: Some[uint32](2), State: State{Kind: Released}})
		},
		"append flow": func() { out = AppendFrame(out[:0], 1, &Flow{Handle: Some[uint32](1), LinkCredit: Some[uint32](100)}) },
		"heartbeat":   func() { out = AppendHeartbeat(out[:0]) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkDecodeTransfer(b *testing.B) {
	frame := AppendTransfer(nil, 1, &Transfer{Handle: 1, DeliveryID: Some[uint32](1 << 20), DeliveryTag: []byte("0123"), MessageFormat: Some[uint32](0)}, 1<<20, make([]byte, 100))
	var t Transfer
	b.ReportAllocs()
	for b.Loop() {
		f, _, _, _ := ParseFrame(frame, 1<<20)
		_, _ = DecodeInto(f.Body, &t)
	}
}

func BenchmarkAppendTransfer(b *testing.B) {
	t := Transfer{Handle: 1, DeliveryID: Some[uint32](1 << 20), DeliveryTag: []byte("0123"), MessageFormat: Some[uint32](0)}
	out, body := make([]byte, 0, 4096), make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		out = AppendTransfer(out[:0], 1, &t, 131072, body)
	}
}

func BenchmarkDecodeDisposition(b *testing.B) {
	frame := AppendFrame(nil, 1, &Disposition{Role: RoleReceiver, First: 1000, Last: Some[uint32](2000), Settled: true, State: State{Kind: Accepted}})
	var d Disposition
	b.ReportAllocs()
	for b.Loop() {
		_, _ = DecodeInto(frame[frameHeaderSize:], &d)
	}
}

func BenchmarkAppendDisposition(b *testing.B) {
	d := Disposition{Role: RoleReceiver, First: 1000, Last: Some[uint32](2000), Settled: true, State: State{Kind: Accepted}}
	out := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		out = AppendFrame(out[:0], 1, &d)
	}
}
