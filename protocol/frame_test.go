package protocol

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestFramesGolden(t *testing.T) {
	tests := []struct {
		name   string
		frame  []byte
		golden string
		want   Frame
	}{
		{
			"method", AppendMethodFrame(nil, 1, &BasicAck{DeliveryTag: 3, Multiple: true}), "01 0001 0000000d 003c0050000000000000000301 ce",
			Frame{FrameMethod, 1, payload(&BasicAck{DeliveryTag: 3, Multiple: true})},
		},
		{
			"header", AppendHeaderFrame(nil, 0x0203, 5, []byte{0x10, 0, 2}), "02 0203 0000000f 003c00000000000000000005100002 ce",
			Frame{FrameHeader, 0x0203, []byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0x10, 0, 2}},
		},
		{"body", AppendBodyFrames(nil, 7, []byte("hello"), 0), "03 0007 00000005 68656c6c6f ce", Frame{FrameBody, 7, []byte("hello")}},
		{"heartbeat", AppendHeartbeat(nil), "08 0000 00000000 ce", Frame{FrameHeartbeat, 0, []byte{}}},
		{
			"deliver", AppendDeliverFrame(nil, 1, "ct", 9, true, []byte("x"), []byte("k")),
			"01 0001 00000014 003c003c 026374 0000000000000009 01 0178 016b ce",
			Frame{FrameMethod, 1, payload(&BasicDeliver{"ct", 9, true, "x", "k"})},
		},
		{
			"ack", AppendAckFrame(nil, 1, 3, true), "01 0001 0000000d 003c0050000000000000000301 ce",
			Frame{FrameMethod, 1, payload(&BasicAck{3, true})},
		},
		{
			"nack", AppendNackFrame(nil, 1, 3, false, true), "01 0001 0000000d 003c0078000000000000000302 ce",
			Frame{FrameMethod, 1, payload(&BasicNack{3, false, true})},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden := unhex(t, strings.ReplaceAll(tt.golden, " ", ""))
			if !bytes.Equal(tt.frame, golden) {
				t.Fatalf("got %x, want %x", tt.frame, golden)
			}
			f, n, _, err := ParseFrame(append(golden, 1, 2, 3), FrameMinSize)
			if err != nil || n != len(golden) || !reflect.DeepEqual(f, tt.want) {
				t.Errorf("got %+v, %d, %v, want %+v", f, n, err, tt.want)
			}
		})
	}
}

// Appending extends the caller's buffer and does not change its contents.
func TestFramesAppend(t *testing.T) {
	dst := AppendHeartbeat([]byte("before"))
	dst = AppendMethodFrame(dst, 1, &ChannelCloseOk{})
	dst = AppendDeliverFrame(dst, 1, "t", 1, false, nil, []byte("q"))
	rest, ok := bytes.CutPrefix(dst, []byte("before"))
	if !ok {
		t.Fatalf("got %q", dst)
	}
	for _, want := range []uint8{FrameHeartbeat, FrameMethod, FrameMethod} {
		f, n, _, err := ParseFrame(rest, 0)
		if err != nil || f.Type != want {
			t.Fatalf("got %+v, %v", f, err)
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		t.Errorf("left over: %x", rest)
	}
}

func TestParseFrameNeedsMore(t *testing.T) {
	whole := AppendBodyFrames(nil, 1, []byte("hello"), 0)
	for i := range whole {
		_, n, need, err := ParseFrame(whole[:i], FrameMinSize)
		want := len(whole)
		if i < 7 {
			want = 8
		}
		if n != 0 || need != want || err != nil {
			t.Errorf("%d bytes: n %d need %d err %v, want need %d", i, n, need, err, want)
		}
	}
}

func TestParseFrameErrors(t *testing.T) {
	tests := []struct {
		name, frame, text string
		n                 int
	}{
		{"too large", "01 0001 00001001", "type 1, all octets = <<>>: {frame_too_large,4097,4088}", 0},
		{"4 GiB", "03 0001 ffffffff", "type 3, all octets = <<>>: {frame_too_large,4294967295,4088}", 0},
		{"end octet", "03 0001 00000005 68656c6c6f 00", `type 3, all octets = <<"hello">>: {invalid_frame_end_marker,0}`, 0},
		{
			"end octet, long payload", "03 0001 00000011 000102030405060708090a0b0c0d0e0f10 ff",
			"type 3, first 16 octets = <<0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15>>: {invalid_frame_end_marker,255}", 0,
		},
		{"unknown type", "04 0001 00000001 01 ce", "type 4, all octets = <<1>>: unknown_frame", 9},
		{"heartbeat with payload", "08 0000 00000001 01 ce", "type 8, all octets = <<1>>: unknown_frame", 9},
		{"method without a method id", "01 0001 00000003 003c00 ce", "type 1, all octets = <<0,60,0>>: unknown_frame", 11},
		{"header without a body size", "02 0001 00000004 003c0000 ce", "type 2, all octets = <<0,60,0,0>>: unknown_frame", 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, n, _, err := ParseFrame(unhex(t, strings.ReplaceAll(tt.frame, " ", "")), FrameMinSize)
			if text := connectionError(t, err, FrameErr, 0, 0); text != "FRAME_ERROR - "+tt.text {
				t.Errorf("got %q, want %q", text, "FRAME_ERROR - "+tt.text)
			}
			if n != tt.n {
				t.Errorf("n is %d, want %d", n, tt.n)
			}
		})
	}
}

// Clients that ignore the 8 bytes of overhead when they apply frame_max are accepted, as in RabbitMQ.
func TestParseFrameLimit(t *testing.T) {
	for size, ok := range map[int]bool{FrameMinSize - 8: true, FrameMinSize: true, FrameMinSize + 1: false} {
		frame := AppendBodyFrames(nil, 1, make([]byte, size), 0)
		_, n, _, err := ParseFrame(frame, FrameMinSize)
		if (err == nil) != ok || ok && n != len(frame) {
			t.Errorf("payload of %d: n %d, err %v", size, n, err)
		}
	}
	if _, n, _, err := ParseFrame(AppendBodyFrames(nil, 1, make([]byte, 1<<20), 0), 0); n != 1<<20+8 || err != nil {
		t.Errorf("without limit: %d, %v", n, err)
	}
}

func TestUnexpectedFrame(t *testing.T) {
	err := Frame{FrameBody, 1, []byte("hello")}.Unexpected()
	if err.Code != UnexpectedFrame || err.Text != `UNEXPECTED_FRAME - type 3, all octets = <<"hello">>` {
		t.Errorf("got %+v", err)
	}
}

func TestBodyFramesAreSplit(t *testing.T) {
	for _, size := range []int{0, 1, 4087, 4088, 4089, 10000} {
		body := bytes.Repeat([]byte{'x'}, size)
		rest, got, frames := AppendBodyFrames(nil, 3, body, FrameMinSize), []byte{}, 0
		for len(rest) > 0 {
			f, n, _, err := ParseFrame(rest, FrameMinSize)
			if err != nil || n == 0 || n > FrameMinSize || f.Type != FrameBody || f.Channel != 3 {
				t.Fatalf("%d: %+v, %d, %v", size, f, n, err)
			}
			got, rest, frames = append(got, f.Payload...), rest[n:], frames+1
		}
		if !bytes.Equal(got, body) || frames != (size+4087)/4088 {
			t.Errorf("%d bytes arrive as %d in %d frames", size, len(got), frames)
		}
	}
}

func TestContentHeader(t *testing.T) {
	f, _, _, err := ParseFrame(AppendHeaderFrame(nil, 1, 1<<40, []byte{0x10, 0, 2}), 0)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseContentHeader(f.Payload)
	if err != nil || !reflect.DeepEqual(h, ContentHeader{1 << 40, []byte{0x10, 0, 2}}) {
		t.Errorf("got %+v, %v", h, err)
	}
	tests := []struct {
		name, payload string
		code          uint16
		text          string
	}{
		{"short", "003c0000", FrameErr, "FRAME_ERROR - type 2, all octets = <<0,60,0,0>>: unknown_frame"},
		{
			"weight", "003c0001 0000000000000000 0000", UnexpectedFrame,
			"UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead",
		},
		{
			"class", "00320000 0000000000000000 0000", UnexpectedFrame,
			"UNEXPECTED_FRAME - expected content header for class 60, got one for class 50 instead",
		},
	}
	for _, tt := range tests {
		_, err := ParseContentHeader(unhex(t, strings.ReplaceAll(tt.payload, " ", "")))
		if text := connectionError(t, err, tt.code, 0, 0); text != tt.text {
			t.Errorf("%s: got %q", tt.name, text)
		}
	}
}
