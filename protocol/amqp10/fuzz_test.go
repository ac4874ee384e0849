package amqp10

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// The fuzz targets assert: nothing panics, every error is an *Error, and a decoded value encodes to bytes that decode
// to the same. Values are compared as they are encoded, since NaN is not equal to itself.

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Condition == "" {
		t.Fatalf("got %#v", err)
	}
}

func FuzzFrame(f *testing.F) {
	for _, c := range composites {
		f.Add(AppendFrame(nil, 1, c.value), uint32(MinMaxFrameSize))
	}
	f.Add(AppendHeartbeat(nil), uint32(0))
	f.Add(AppendTransfer(nil, 1, &Transfer{}, 512, []byte("payload")), uint32(1<<20))
	f.Add([]byte("\x00\x00\x00\x10\x03\x00\x00\x01\x01\x02\x03\x04\x00\x53\x18\x45"), uint32(1024))
	f.Fuzz(func(t *testing.T, b []byte, maxSize uint32) {
		frame, n, need, err := ParseFrame(b, maxSize)
		switch {
		case err != nil:
			checkError(t, err)
			return
		case n == 0:
			if need <= len(b) || need > int(max(maxSize, MinMaxFrameSize)) {
				t.Fatalf("needs %d, has %d, at most %d", need, len(b), maxSize)
			}
			return
		case n > len(b) || len(frame.Body) > n-frameHeaderSize:
			t.Fatalf("n %d of %d, body %d", n, len(b), len(frame.Body))
		}
		p, payload, err := frame.Decode()
		if err != nil {
			checkError(t, err)
			return
		}
		again := append(AppendFrame(nil, frame.Channel, p), payload...)
		parsed, _, _, err := ParseFrame(again[:len(again)-len(payload)], 1<<30)
		if err != nil || parsed.Type != frame.Type || parsed.Channel != frame.Channel {
			t.Fatalf("got %+v, %v, want %+v", parsed, err, frame)
		}
	})
}

func FuzzDecodeValue(f *testing.F) {
	for _, v := range everyValue {
		f.Add(unhex(f, v.golden))
	}
	f.Add(deep(128))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, rest, err := decodeValue(b)
		view, viewRest, viewErr := parseValue(b)
		if (err == nil) != (viewErr == nil) || len(rest) != len(viewRest) {
			t.Fatalf("decodeValue: %v, %d left; parseValue: %v, %d left", err, len(rest), viewErr, len(viewRest))
		}
		if err != nil {
			checkError(t, err)
			return
		}
		if n := sizeOf(b); n != len(b)-len(rest) || len(view) != n {
			t.Fatalf("size %d, view %d, took %d", n, len(view), len(b)-len(rest))
		}
		encoded := encode(t, v)
		again, rest, err := decodeValue(encoded)
		if err != nil || len(rest) != 0 || !bytes.Equal(encode(t, again), encoded) {
			t.Fatalf("got %#v, %x, %v, want %#v", again, rest, err, v)
		}
		if m, ok := v.(Map); ok {
			checkEntries(t, view, m)
		}
	})
}

// checkEntries compares the entries of a view with a map.
func checkEntries(t *testing.T, view Value, m Map) {
	i := 0
	for key, value := range view.Entries() {
		if !bytes.Equal(encode(t, key.Decode()), encode(t, m[i].Key)) || !bytes.Equal(encode(t, value.Decode()), encode(t, m[i].Value)) {
			t.Fatalf("entry %d: got %x, %x, want %#v", i, key, value, m[i])
		}
		if text, ok := key.Text(); ok && i < 16 {
			want, found := m.Get(string(text))
			if got := view.Lookup(string(text)); !found || !bytes.Equal(encode(t, got.Decode()), encode(t, want)) {
				t.Fatalf("%q: got %x, want %#v", text, got, want)
			}
		}
		i++
	}
	if i != len(m) {
		t.Fatalf("%d entries, want %d", i, len(m))
	}
}

func FuzzPerformative(f *testing.F) {
	for _, c := range composites {
		f.Add(AppendComposite(nil, c.value))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []uint8{FrameAMQP, FrameSASL} {
			frame := Frame{Type: kind, Body: b}
			p, payload, err := frame.Decode()
			if err != nil {
				checkError(t, err)
				continue
			}
			encoded := append(AppendComposite(nil, p), payload...)
			again, rest, err := Frame{Type: kind, Body: encoded}.Decode()
			if err != nil || !bytes.Equal(rest, payload) {
				t.Fatalf("%x: got %x, %v, want %+v", encoded, rest, err, p)
			}
			if twice := append(AppendComposite(nil, again), rest...); !bytes.Equal(twice, encoded) {
				t.Fatalf("got %+v, want %+v", again, p)
			}
		}
	})
}

func FuzzSections(f *testing.F) {
	f.Add(benchMessage(f))
	f.Add(AppendComposite(nil, &fullProperties))
	f.Add(join(section(f, SectionMessageAnnotations, Map{{Symbol("a"), nil}}), section(f, SectionSequence, List{true}), section(f, SectionFooter, Map{})))
	f.Add(section(f, SectionValue, Map{{"k", List{}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ScanSections(b)
		if err != nil {
			checkError(t, err)
			return
		}
		if s.BareStart > s.BareEnd || s.BareEnd > len(b) {
			t.Fatalf("bare message from %d to %d of %d", s.BareStart, s.BareEnd, len(b))
		}
		again := rebuilt(t, &s)
		if again == nil {
			return
		}
		scanned, err := ScanSections(again)
		if err != nil || scanned.BodyKind != s.BodyKind || !bytes.Equal(scanned.Body(), s.Body()) {
			t.Fatalf("%x: got %+v, %v, want %+v", again, scanned, err, s)
		}
		if twice := rebuilt(t, &scanned); !bytes.Equal(twice, again) {
			t.Fatalf("got %x, want %x", twice, again)
		}
		bare, err := ScanSections(b[s.BareStart:])
		if err != nil || !reflect.DeepEqual(bare.Body(), s.Body()) || !bytes.Equal(bare.Footer, s.Footer) {
			t.Fatalf("bare message: got %+v, %v, want %+v", bare, err, s)
		}
	})
}

// rebuilt encodes a message again from its sections; it returns nil if header or properties are refused.
func rebuilt(t *testing.T, s *Sections) []byte {
	h, err := s.Header()
	var p Properties
	if propertiesErr := s.Properties(&p); err != nil || propertiesErr != nil {
		checkError(t, errors.Join(err, propertiesErr))
		return nil
	}
	b := AppendComposite(nil, &h)
	if s.DeliveryAnnotations != nil {
		b = AppendSection(b, SectionDeliveryAnnotations, s.DeliveryAnnotations)
	}
	if s.MessageAnnotations != nil {
		b = AppendSection(b, SectionMessageAnnotations, encode(t, s.MessageAnnotations.Decode()))
	}
	b = AppendComposite(b, &p)
	if s.ApplicationProperties != nil {
		b = AppendSection(b, SectionApplicationProperties, encode(t, s.ApplicationProperties.Decode()))
	}
	b = append(b, s.Body()...)
	for _, v := range s.BodyValues() {
		_ = v.Decode()
	}
	if s.Footer != nil {
		b = AppendSection(b, SectionFooter, s.Footer)
	}
	return b
}
