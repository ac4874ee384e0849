package protocol

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// everyType has a value of every wire type, some of them nested.
var everyType = Table{
	{"t", true},
	{"b", int8(-2)},
	{"B", uint8(254)},
	{"s", int16(-3)},
	{"u", uint16(65533)},
	{"I", int32(-4)},
	{"i", uint32(1 << 31)},
	{"l", int64(-5)},
	{"f", float32(1.5)},
	{"d", float64(-2.25)},
	{"D", Decimal{2, -314}},
	{"S", "text"},
	{"x", []byte{1, 2}},
	{"T", Timestamp(1 << 40)},
	{"F", Table{{"in", Array{Table{{"deep", nil}}, "s"}}}},
	{"A", Array{int64(1), nil, Array(nil), Table(nil)}},
	{"V", nil},
	{"V", "a second field of the same name"},
}

func encode(t testing.TB, table Table) []byte {
	t.Helper()
	b, err := AppendTable(nil, table)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTableGolden(t *testing.T) {
	tests := []struct {
		value  any
		golden string // tag and value
		name   string // as in ERR-5
	}{
		{true, "7401", "bool"},
		{false, "7400", "bool"},
		{int8(-2), "62fe", "byte"},
		{uint8(254), "42fe", "unsignedbyte"},
		{int16(-3), "73fffd", "short"},
		{uint16(65533), "75fffd", "unsignedshort"},
		{int32(-4), "49fffffffc", "signedint"},
		{uint32(1 << 31), "6980000000", "unsignedint"},
		{int64(-5), "6cfffffffffffffffb", "long"},
		{float32(1.5), "663fc00000", "float"},
		{-2.25, "64c002000000000000", "double"},
		{Decimal{2, -314}, "4402fffffec6", "decimal"},
		{"text", "530000000474657874", "longstr"},
		{[]byte{1, 2}, "78000000020102", "binary"},
		{Timestamp(258), "540000000000000102", "timestamp"},
		{Table{{"k", nil}}, "460000000301" + "6b" + "56", "table"},
		{Array{nil, true}, "410000000356" + "7401", "array"},
		{nil, "56", "void"},
		{[]byte{}, "7800000000", "binary"},
		{"", "5300000000", "longstr"},
		{Table(nil), "4600000000", "table"},
		{Array(nil), "4100000000", "array"},
	}
	for _, tt := range tests {
		table := Table{{Key: "key", Value: tt.value}}
		body := append([]byte("\x03key"), unhex(t, tt.golden)...)
		golden := append([]byte{0, 0, 0, byte(len(body))}, body...)
		if got := encode(t, table); !bytes.Equal(got, golden) {
			t.Errorf("%#v encodes to %x, want %x", tt.value, got, golden)
		}
		if got, err := DecodeTable(golden); err != nil || !reflect.DeepEqual(got, table) {
			t.Errorf("%x decodes to %#v, %v", golden, got, err)
		}
		if err := checkTable(golden); err != nil {
			t.Errorf("%x: %v", golden, err)
		}
		if got := TypeName(tt.value); got != tt.name {
			t.Errorf("ERR-5: %#v is named %s, want %s", tt.value, got, tt.name)
		}
	}
	if got := TypeName(1); got != "undefined" {
		t.Errorf("an int has no wire type, got %s", got)
	}
}

// ERR-5: L is read as a signed 64-bit number, like l; any octet but 0 is true.
func TestTableReadsMoreThanItWrites(t *testing.T) {
	got, err := DecodeTable(unhex(t, "0000000f"+"0161"+"4cffffffffffffffff"+"0162"+"74ff"))
	if want := (Table{{"a", int64(-1)}, {"b", true}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestTableRoundTrip(t *testing.T) {
	encoded := encode(t, everyType)
	got, err := DecodeTable(encoded)
	if err != nil || !reflect.DeepEqual(got, everyType) {
		t.Errorf("got %#v, %v", got, err)
	}
	if empty, err := DecodeTable(make([]byte, 4)); empty != nil || err != nil {
		t.Errorf("got %#v, %v", empty, err)
	}
	for n := range encoded {
		if _, err := DecodeTable(encoded[:n]); err == nil {
			t.Errorf("cut to %d bytes it still decodes", n)
		}
		if err := checkTable(encoded[:n]); err == nil {
			t.Errorf("cut to %d bytes it still passes", n)
		}
	}
}

// nested returns tables nested to this many levels.
func nested(levels int) Table {
	t := Table(nil)
	for range levels - 1 {
		t = Table{{"k", t}}
	}
	return t
}

func TestTableLimits(t *testing.T) {
	if got, err := DecodeTable(encode(t, nested(128))); err != nil || !reflect.DeepEqual(got, nested(128)) {
		t.Errorf("128 levels: %v", err)
	}
	arrays := Array(nil)
	for range 200 {
		arrays = Array{arrays}
	}
	for name, table := range map[string]Table{
		"129 levels": nested(129), "200 arrays": {{"a", arrays}}, "key of 256 bytes": {{strings.Repeat("k", 256), nil}},
		"NaN": {{"f", math.NaN()}}, "infinity": {{"f", float32(math.Inf(1))}}, "an int": {{"i", 1}}, "an int in an array": {{"a", Array{1}}},
	} {
		dst := []byte("before")
		if got, err := AppendTable(dst, table); err == nil || string(got) != "before" {
			t.Errorf("%s: got %x, %v", name, got, err)
		}
	}
	// Tables that AppendTable refuses are built by hand, to check that decoding refuses them too.
	deep := []byte{0, 0, 0, 0}
	for range 128 {
		inner := append([]byte{0, 'F'}, deep...)
		deep = append(appendU32(nil, uint32(len(inner))), inner...)
	}
	for name, b := range map[string][]byte{
		"129 levels": deep, "NaN": unhex(t, "00000006"+"00"+"66"+"7fc00000"), "-infinity": unhex(t, "0000000a"+"00"+"64"+"fff0000000000000"),
		"unknown tag": unhex(t, "00000003"+"00"+"7a00"), "trailing bytes": unhex(t, "0000000000"), "no length": {},
	} {
		if got, err := DecodeTable(b); err == nil || got != nil {
			t.Errorf("%s decodes: %v", name, got)
		}
		if err := checkTable(b); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestTableGetSetDelete(t *testing.T) {
	base := make(Table, 0, 8)
	base = append(base, Field{"a", "1"}, Field{"b", "2"}, Field{"a", "3"})
	if v, ok := base.Get("a"); v != "1" || !ok {
		t.Errorf("got %v", v)
	}
	if v, ok := base.Get("c"); v != nil || ok {
		t.Errorf("got %v", v)
	}
	one, two := base.Set("c", "one"), base.Set("c", "two")
	if want := (Table{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"c", "one"}}); !reflect.DeepEqual(one, want) {
		t.Errorf("got %v: a later Set must not show through (%v)", one, two)
	}
	if want := (Table{{"a", "9"}, {"b", "2"}, {"a", "3"}}); !reflect.DeepEqual(base.Set("a", "9"), want) {
		t.Errorf("got %v", base.Set("a", "9"))
	}
	if want := (Table{{"b", "2"}}); !reflect.DeepEqual(base.Delete("a"), want) {
		t.Errorf("got %v", base.Delete("a"))
	}
	if got := base.Delete("c"); len(got) != 3 {
		t.Errorf("got %v", got)
	}
	if want := (Table{{"a", "1"}, {"b", "2"}, {"a", "3"}}); !reflect.DeepEqual(base, want) {
		t.Errorf("the table itself changed: %v", base)
	}
}

func TestTableEqual(t *testing.T) {
	again, err := DecodeTable(encode(t, everyType))
	if err != nil || !everyType.Equal(again) {
		t.Errorf("differs from itself, %v", err)
	}
	for i, f := range everyType {
		for _, other := range everyType {
			changed := slices.Clone(everyType)
			changed[i].Value = other.Value
			if same := reflect.DeepEqual(f.Value, other.Value); everyType.Equal(changed) != same {
				t.Errorf("%s with the value of %s: equal is %v", f.Key, other.Key, !same)
			}
		}
	}
	for _, other := range []Table{nil, everyType[1:], append(slices.Clone(everyType), Field{"V", nil}), {{"n", int64(1)}}} {
		if everyType.Equal(other) || other.Equal(everyType) {
			t.Errorf("equals %v", other)
		}
	}
	if (Table{{"n", int8(1)}}).Equal(Table{{"n", int64(1)}}) || !(Table{}).Equal(nil) {
		t.Error("types differ, or no fields are not equal")
	}
}

func TestInt64TTL1(t *testing.T) {
	for _, v := range []any{int8(10), uint8(10), int16(10), uint16(10), int32(10), uint32(10), int64(10)} {
		if n, ok := Int64(v); n != 10 || !ok {
			t.Errorf("%T: %d %v", v, n, ok)
		}
	}
	for _, v := range []any{nil, true, float32(1), float64(1), Decimal{0, 1}, "1", []byte("1"), Timestamp(1), Table(nil), Array(nil), 1} {
		if n, ok := Int64(v); n != 0 || ok {
			t.Errorf("%T: %d %v", v, n, ok)
		}
	}
}

func TestLookupField(t *testing.T) {
	encoded := encode(t, everyType)
	for _, f := range everyType[:17] {
		if v, ok, err := LookupField(encoded, f.Key); !ok || err != nil || !reflect.DeepEqual(v, f.Value) {
			t.Errorf("%s: got %#v, %v, %v", f.Key, v, ok, err)
		}
	}
	if v, ok, err := LookupField(encoded, "nope"); v != nil || ok || err != nil {
		t.Errorf("got %#v, %v, %v", v, ok, err)
	}
	if _, ok, err := LookupField(encoded[:20], "nope"); ok || err == nil {
		t.Errorf("cut short: %v, %v", ok, err)
	}
	if _, ok, err := LookupField(unhex(t, "00000003"+"016b"+"5a"), "k"); ok || err == nil {
		t.Errorf("unknown tag: %v, %v", ok, err)
	}
}

// checkTable checks a table without decoding it, as ParseContentHeader does with headers.
func checkTable(encoded []byte) error {
	c := cursor{b: encoded}
	body := c.long()
	if c.bad || len(c.b) > 0 || !checkFields(body, 1, true) {
		return cannotDecode(encoded, 0, 0)
	}
	return nil
}
