package protocol

import (
	"bytes"
	"reflect"
	"testing"
)

// everyProperty has all fourteen properties.
var everyProperty = Properties{
	ContentType: "text/plain", ContentEncoding: "gzip", Headers: everyType, DeliveryMode: 2, Priority: 7, CorrelationID: "corr",
	ReplyTo: "reply", Expiration: "60000", MessageID: "id-1", Timestamp: 1700000000, Type: "kind", UserID: "guest", AppID: "app",
	ClusterID: "cluster", Flags: flagsKnown,
}

func TestPropertiesGolden(t *testing.T) {
	tests := []struct {
		name   string
		p      Properties
		golden string
	}{
		{"none", Properties{}, "0000"},
		{"persistent", Properties{DeliveryMode: 2, Flags: FlagDeliveryMode}, "1000" + "02"},
		{"expiration", Properties{Expiration: "500", Flags: FlagExpiration}, "0100" + "03353030"},
		{"empty but present", Properties{Flags: FlagExpiration | FlagHeaders}, "2100" + "00000000" + "00"},
		{
			"all",
			Properties{"a", "b", kv, 1, 2, "c", "d", "e", "f", 3, "g", "h", "i", "j", flagsKnown},
			"fffc" + "0161" + "0162" + "00000008" + "016b" + "530000000176" + "01" + "02" + "0163" + "0164" + "0165" + "0166" +
				"0000000000000003" + "0167" + "0168" + "0169" + "016a",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden := unhex(t, tt.golden)
			if got := tt.p.Append(nil); !bytes.Equal(got, golden) {
				t.Errorf("encodes to %x, want %x", got, golden)
			}
			if got, err := DecodeProperties(golden); err != nil || !reflect.DeepEqual(got, tt.p) {
				t.Errorf("decodes to %+v, %v", got, err)
			}
		})
	}
}

// Each property is encoded alone, so that no two flags can be confused.
func TestPropertiesOneByOne(t *testing.T) {
	for flag := FlagContentType; flag >= FlagClusterID; flag >>= 1 {
		p := everyProperty
		p.Flags = flag
		got, err := DecodeProperties(p.Append(nil))
		if err != nil || got.Flags != flag {
			t.Fatalf("%04x: %+v, %v", flag, got, err)
		}
		fields, all := 0, reflect.ValueOf(got)
		for i := range all.NumField() - 1 {
			if !all.Field(i).IsZero() {
				fields++
				if !reflect.DeepEqual(all.Field(i).Interface(), reflect.ValueOf(everyProperty).Field(i).Interface()) {
					t.Errorf("%04x: %+v", flag, got)
				}
			}
		}
		if fields != 1 {
			t.Errorf("%04x: %d fields in %+v", flag, fields, got)
		}
	}
}

// TestPersistent: the delivery mode is found behind any properties, and before any others.
func TestPersistent(t *testing.T) {
	every := everyProperty
	for flags := range 1 << 4 {
		for mode := range uint8(4) {
			every.Flags, every.DeliveryMode = uint16(flags)<<12|FlagPriority|FlagClusterID, mode
			raw := every.Append(nil)
			if got, want := Persistent(raw), flags&1 != 0 && mode == 2; got != want {
				t.Errorf("%04x, mode %d: %v", every.Flags, mode, got)
			}
			for n := range raw { // never panics
				Persistent(raw[:n])
			}
		}
	}
}

func TestScanProperties(t *testing.T) {
	got, err := ScanProperties(everyProperty.Append(nil))
	want := Scan{
		DeliveryMode: 2, Priority: 7, HasPriority: true, Expiration: []byte("60000"), HasExpiration: true, Headers: encode(t, everyType),
		UserID: []byte("guest"), HasUserID: true, ReplyTo: []byte("reply"), CorrelationID: []byte("corr"), MessageID: []byte("id-1"),
		AppID: []byte("app"), HasAppID: true, Timestamp: 1700000000, HasTimestamp: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = ScanProperties([]byte{0, 0})
	if err != nil || !reflect.DeepEqual(got, Scan{}) {
		t.Errorf("got %+v, %v", got, err)
	}
	// TTL-5: present but empty is not the same as absent.
	got, err = ScanProperties([]byte{1, 0, 0})
	if err != nil || !got.HasExpiration || len(got.Expiration) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	// The two lowest flags mean nothing.
	if got, err = ScanProperties([]byte{0, 3}); err != nil || !reflect.DeepEqual(got, Scan{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPropertiesCutShortOrTooLong(t *testing.T) {
	raw := everyProperty.Append(nil)
	for n := range raw {
		_, err := ScanProperties(raw[:n:n])
		connectionError(t, err, FrameErr, 60, 40)
		_, err = DecodeProperties(raw[:n:n])
		connectionError(t, err, FrameErr, 60, 40)
	}
	_, err := ScanProperties(append(raw, 0))
	connectionError(t, err, FrameErr, 60, 40)
	_, err = DecodeProperties(append(raw, 0))
	connectionError(t, err, FrameErr, 60, 40)
	_, err = ScanProperties([]byte{0x20, 0, 0, 0, 0, 3, 1, 'k', 'Z'})
	if text := connectionError(t, err, FrameErr, 60, 40); text != "FRAME_ERROR - cannot decode properties <<32,0,0,0,0,3,1,107,90>>" {
		t.Error(text)
	}
}
