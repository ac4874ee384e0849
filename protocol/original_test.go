package protocol

import (
	"bytes"
	"reflect"
	"testing"
)

func TestOriginal(t *testing.T) {
	for _, original := range [][]byte{{}, []byte("as another protocol had it"), make([]byte, 1<<17)} {
		list := everyProperty.Append(nil)
		raw := WithOriginal(append(bytes.Clone(list), original...), len(list))
		got, found := SplitOriginal(raw)
		if found == nil || !bytes.Equal(found, original) || !bytes.Equal(got[2:], list[2:]) {
			t.Fatalf("split into %d and %d bytes", len(got), len(found))
		}
		scan, err := ScanProperties(raw)
		want, _ := ScanProperties(list)
		if err != nil || !reflect.DeepEqual(scan, want) {
			t.Errorf("scanned %+v, %v", scan, err)
		}
		if p, err := DecodeProperties(raw); err != nil || !reflect.DeepEqual(p, everyProperty) {
			t.Errorf("decoded %+v, %v", p, err)
		}
		before := bytes.Clone(raw)
		if sent := WithoutOriginal(raw); !bytes.Equal(sent, list) || !bytes.Equal(raw, before) {
			t.Errorf("sent %x", sent)
		}
	}
	list := everyProperty.Append(nil)
	if same := WithoutOriginal(list); &same[0] != &list[0] {
		t.Error("a list without an original is copied")
	}
}

// TestOriginalFromOutside: clients of 0-9-1 cannot send an original, with any flags.
func TestOriginalFromOutside(t *testing.T) {
	list := Properties{Priority: 1, Flags: FlagPriority}.Append(nil)
	raw := WithOriginal(append(list, "forged"...), len(list))
	sent := append([]byte(nil), raw...)
	h, err := ParseContentHeader(append([]byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, raw...))
	if err != nil {
		t.Fatal(err)
	}
	if _, original := SplitOriginal(h.Properties); original != nil {
		t.Errorf("taken: %q", original)
	}
	_, err = ScanProperties(h.Properties)
	connectionError(t, err, FrameErr, 60, 40)
	if !bytes.Equal(raw, sent) {
		t.Error("the input was written to")
	}
	h, err = ParseContentHeader([]byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x03, 7})
	scan, scanErr := ScanProperties(h.Properties)
	if err != nil || scanErr != nil || scan.Priority != 7 || h.Properties[1] != 0 {
		t.Errorf("%x, %+v, %v, %v", h.Properties, scan, err, scanErr)
	}
}

// TestBrokenOriginal: an original with invalid sizes is ignored.
func TestBrokenOriginal(t *testing.T) {
	for _, raw := range [][]byte{{}, {0}, {0, 1}, {0, 1, 0, 0, 0}, {0, 1, 0, 0, 0, 1}, {0, 1, 0xff, 0xff, 0xff, 0xff}, {0, 0, 'x', 0, 0, 0, 1}} {
		if list, original := SplitOriginal(raw); original != nil || !bytes.Equal(list, raw) {
			t.Errorf("%x: %x, %x", raw, list, original)
		}
	}
}
