package amqp10

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// everyValue has values of all types with their smallest encodings [AMQP 1.0 types 1.6].
var everyValue = []struct {
	name   string
	value  any
	golden string
}{
	{"null", nil, "40"},
	{"true", true, "41"},
	{"false", false, "42"},
	{"ubyte", uint8(254), "50fe"},
	{"ushort", uint16(65533), "60fffd"},
	{"uint 0", uint32(0), "43"},
	{"smalluint", uint32(255), "52ff"},
	{"uint", uint32(256), "7000000100"},
	{"ulong 0", uint64(0), "44"},
	{"smallulong", uint64(255), "53ff"},
	{"ulong", uint64(1 << 63), "808000000000000000"},
	{"byte", int8(-2), "51fe"},
	{"short", int16(-3), "61fffd"},
	{"smallint", int32(-128), "5480"},
	{"int", int32(128), "7100000080"},
	{"smalllong", int64(127), "557f"},
	{"long", int64(-129), "81ffffffffffffff7f"},
	{"float", float32(1.5), "723fc00000"},
	{"double", -2.25, "82c002000000000000"},
	{"decimal32", Decimal32{1, 2, 3, 4}, "7401020304"},
	{"decimal64", Decimal64{1, 2, 3, 4, 5, 6, 7, 8}, "840102030405060708"},
	{"decimal128", Decimal128{15: 9}, "9400000000000000000000000000000009"},
	{"char", Char('€'), "73000020ac"},
	{"timestamp", Timestamp(-1), "83ffffffffffffffff"},
	{"uuid", UUID{1, 15: 2}, "9801000000000000000000000000000002"},
	{"binary", []byte{1, 2}, "a0020102"},
	{"empty binary", []byte{}, "a000"},
	{"string", "hé", "a10368c3a9"},
	{"symbol", Symbol("sym"), "a30373796d"},
	{"list0", List(nil), "45"},
	{"list8", List{nil, uint32(1)}, "c0040240" + "5201"},
	{"map8", Map{{Symbol("b"), true}, {"a", nil}}, "c10904" + "a30162" + "41" + "a10161" + "40"},
	{"empty map", Map{}, "c10100"},
	{"array of symbols", Array{TypeSymbol, []any{Symbol("a"), Symbol("bc")}}, "e00702a3" + "0161" + "026263"},
	{"array of ulong", Array{TypeULong, []any{uint64(1), uint64(256)}}, "e0120280" + "0000000000000001" + "0000000000000100"},
	{"array of int", Array{TypeInt, []any{int32(-1), int32(1)}}, "e00a0271" + "ffffffff" + "00000001"},
	{"array of bool", Array{TypeBool, []any{true, false}}, "e0040256" + "0100"},
	{"array of nulls", Array{TypeNull, []any{nil, nil}}, "e0020240"},
	{"array of lists", Array{TypeList, []any{List(nil), List{nil}}}, "e01302d0" + "0000000400000000" + "000000050000000140"},
	{"array of maps", Array{TypeMap, []any{Map{{"k", true}}}}, "e00e01d1" + "0000000800000002" + "a1016b41"},
	{"array of arrays", Array{TypeArray, []any{Array{TypeUByte, []any{uint8(7)}}}}, "e00c01f0" + "00000006000000015007"},
	{"array of uuids", Array{TypeUUID, []any{UUID{9}}}, "e0120198" + "09000000000000000000000000000000"},
	{"array of described", Array{TypeString, []any{Described{Symbol("d"), "x"}, Described{Symbol("d"), "y"}}}, "e00a0200a30164a1" + "0178" + "0179"},
	{"empty array", Array{TypeLong, nil}, "e0020081"},
	{"described", Described{uint64(0x24), List(nil)}, "00532445"},
	{"described by a name", Described{Symbol("x:y"), "v"}, "00a303783a79" + "a10176"},
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := Append(nil, v)
	if err != nil {
		t.Fatalf("%#v: %v", v, err)
	}
	return b
}

func TestTypesGolden(t *testing.T) {
	for _, tt := range everyValue {
		t.Run(tt.name, func(t *testing.T) {
			golden := unhex(t, tt.golden)
			if got := encode(t, tt.value); !bytes.Equal(got, golden) {
				t.Errorf("encodes to %x, want %x", got, golden)
			}
			got, rest, err := decodeValue(append(golden, 1))
			if err != nil || len(rest) != 1 || !reflect.DeepEqual(got, tt.value) {
				t.Errorf("decodes to %#v, %x, %v, want %#v", got, rest, err, tt.value)
			}
			v, rest, err := parseValue(append(golden, 1))
			if err != nil || len(rest) != 1 || !bytes.Equal(v, golden) || !reflect.DeepEqual(v.Decode(), tt.value) || sizeOf(append(golden, 1)) != len(golden) {
				t.Errorf("parsed as %x, %x, %v", v, rest, err)
			}
			for n := range golden {
				_, _, err := decodeValue(golden[:n:n])
				refused(t, err, DecodeError)
				_, _, err = parseValue(golden[:n:n])
				refused(t, err, DecodeError)
			}
		})
	}
}

// Peers may send other encodings than the smallest one.
func TestTypesOtherEncodings(t *testing.T) {
	for name, tt := range map[string]struct {
		encoded string
		want    any
	}{
		"boolean 56 01":         {"5601", true},
		"boolean 56 00":         {"5600", false},
		"uint":                  {"7000000000", uint32(0)},
		"smalluint":             {"5200", uint32(0)},
		"ulong":                 {"800000000000000001", uint64(1)},
		"smallulong":            {"5300", uint64(0)},
		"int":                   {"71ffffffff", int32(-1)},
		"long":                  {"81fffffffffffffffe", int64(-2)},
		"binary32":              {"b00000000101", []byte{1}},
		"string32":              {"b10000000161", "a"},
		"symbol32":              {"b30000000161", Symbol("a")},
		"list8, empty":          {"c00100", List(nil)},
		"list32":                {"d0000000050000000140", List{nil}},
		"map32":                 {"d100000006000000024041", Map{{nil, true}}},
		"array32":               {"f0000000060000000152" + "07", Array{TypeUInt, []any{uint32(7)}}},
		"array of true":         {"e0020341", Array{TypeBool, []any{true, true, true}}},
		"array of uint 0":       {"e0020243", Array{TypeUInt, []any{uint32(0), uint32(0)}}},
		"array of ulong 0":      {"e0020144", Array{TypeULong, []any{uint64(0)}}},
		"array of empty lists":  {"e0020245", Array{TypeList, []any{List(nil), List(nil)}}},
		"array of smalllong":    {"e0040255" + "ff01", Array{TypeLong, []any{int64(-1), int64(1)}}},
		"array of string32":     {"e00701b1" + "0000000161", Array{TypeString, []any{"a"}}},
		"array of list8":        {"e00501c0" + "020140", Array{TypeList, []any{List{nil}}}},
		"array described twice": {"e00801" + "005301" + "005302" + "41", Array{TypeBool, []any{Described{uint64(1), Described{uint64(2), true}}}}},
	} {
		encoded := unhex(t, tt.encoded)
		got, rest, err := decodeValue(encoded)
		if err != nil || len(rest) != 0 || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %#v, %x, %v, want %#v", name, got, rest, err, tt.want)
		}
		if again, _, err := decodeValue(encode(t, got)); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: again %#v, %v", name, again, err)
		}
	}
}

// deep returns a value with this many levels.
func deep(levels int) []byte {
	b := []byte{0x40}
	for range levels - 1 {
		head := append([]byte{0xd0}, byte((len(b)+4)>>24), byte((len(b)+4)>>16), byte((len(b)+4)>>8), byte(len(b)+4), 0, 0, 0, 1)
		b = append(head, b...)
	}
	return b
}

func TestTypesBounds(t *testing.T) {
	for name, encoded := range map[string]string{
		"no such constructor":            "46",
		"half a constructor":             "1f00",
		"a boolean that is neither":      "5602",
		"a string that is no UTF-8":      "a102c328",
		"a symbol that is not ASCII":     "a302c3a9",
		"a char that is no character":    "730000d800",
		"a char beyond Unicode":          "7300110000",
		"a binary longer than the rest":  "a003aabb",
		"a list longer than the rest":    "c00902" + "4040",
		"a list shorter than its values": "c002" + "0241" + "41",
		"a list longer than its values":  "c004" + "0141" + "4141",
		"a list with a count that lies":  "d000000005ffffffff40",
		"a list without a count":         "c000",
		"a map with an odd count":        "c104" + "03414141",
		"an array without a constructor": "e00100",
		"an array with a count too high": "e003" + "0250" + "01",
		"an array with a count too low":  "e004" + "0150" + "0102",
		"an array of what is not there":  "e003" + "014601",
		"elements without bytes":         "f00000000500000401" + "40",
		"billions of them":               "f000000005ffffffff" + "45",
		"the descriptor alone":           "005324",
	} {
		_, _, err := decodeValue(unhex(t, encoded))
		if err == nil {
			t.Errorf("%s: not refused", name)
			continue
		}
		refused(t, err, DecodeError)
		_, _, err = parseValue(unhex(t, encoded))
		refused(t, err, DecodeError)
	}
	if v, _, err := decodeValue(unhex(t, "f00000000500000400"+"40")); err != nil || len(v.(Array).Values) != maxEmpties {
		t.Errorf("1,024 elements without bytes: %v", err)
	}
	for levels, condition := range map[int]Symbol{maxNesting: "", maxNesting + 1: DecodeError} {
		_, _, parseErr := parseValue(deep(levels))
		v, _, err := decodeValue(deep(levels))
		if condition != "" {
			refused(t, err, condition)
			refused(t, parseErr, condition)
			continue
		}
		if err != nil || parseErr != nil {
			t.Fatalf("%d levels: %v, %v", levels, err, parseErr)
		}
		encode(t, v)
		if _, err := Append(nil, List{v}); err == nil {
			t.Error("a level too many is encoded")
		}
	}
	for _, b := range [][]byte{bytes.Repeat([]byte{0}, 1000), bytes.Repeat([]byte{0xe0, 0xff, 1, 0}, 1000)} {
		_, _, err := parseValue(b)
		refused(t, err, DecodeError)
	}
}

func TestAppendRefusals(t *testing.T) {
	for name, v := range map[string]any{
		"a Go type without a type": int(1),
		"inside":                   Map{{"k", struct{}{}}},
		"unlike values":            Array{TypeInt, []any{int32(1), "a"}},
		"unlike descriptors":       Array{TypeInt, []any{Described{uint64(1), int32(1)}, Described{uint64(2), int32(1)}}},
		"another type":             Array{TypeInt, []any{"a"}},
		"no type":                  Array{},
		"some described":           Array{TypeInt, []any{Described{uint64(1), int32(1)}, int32(1)}},
	} {
		if got, err := Append([]byte("dst"), v); err == nil || string(got) != "dst" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestTextIsRepaired(t *testing.T) {
	for v, want := range map[any]any{"a\xffb": "a\uFFFDb", Symbol("aéb"): Symbol("a?b")} {
		if got, _, err := decodeValue(encode(t, v)); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestLongValues(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, v := range []any{
		long, Symbol(long), []byte(long),
		List{long},
		Map{{long, long}},
		Array{TypeString, []any{"a", long}},
		Array{TypeBinary, []any{[]byte(long), []byte{}}},
		make(List, 256), make(List, 255), append(make(List, 0), long[:251]), append(make(List, 0), long[:252]), append(make(List, 0), long[:253]),
	} {
		got, rest, err := decodeValue(encode(t, v))
		if err != nil || len(rest) != 0 || !reflect.DeepEqual(got, v) {
			t.Errorf("got %v, %v, want %v", got, err, v)
		}
	}
}

func TestValueGetters(t *testing.T) {
	value := func(v any) Value { return Value(encode(t, v)) }
	for _, tt := range everyValue {
		v := value(tt.value)
		b, isBool := v.Bool()
		u, isUnsigned := v.Uint64()
		i, isSigned := v.Int64()
		ts, isTimestamp := v.Timestamp()
		id, isUUID := v.UUID()
		text, isText := v.Text()
		raw, isBinary := v.Binary()
		descriptor, described := v.Described()
		got := reflect.ValueOf(tt.value)
		ok := true
		switch want := tt.value.(type) {
		case bool:
			ok = isBool && b == want
		case uint8, uint16, uint32, uint64:
			ok = isUnsigned && u == got.Uint()
		case int8, int16, int32, int64:
			ok = isSigned && i == got.Int()
		case Timestamp:
			ok = isTimestamp && ts == want
		case UUID:
			ok = isUUID && id == want
		case string, Symbol:
			ok = isText && string(text) == got.String()
		case []byte:
			ok = isBinary && bytes.Equal(raw, want)
		case Described:
			ok = reflect.DeepEqual(descriptor.Decode(), want.Descriptor) && reflect.DeepEqual(described.Decode(), want.Value)
		default:
			ok = !isBool && !isUnsigned && !isSigned && !isTimestamp && !isUUID && !isText && !isBinary && descriptor == nil
		}
		if !ok {
			t.Errorf("%s: %v %v %v %v %v %q %x %x %x", tt.name, b, u, i, ts, id, text, raw, descriptor, described)
		}
	}
	if v := Value(nil); v.Type() != TypeNone || v.Decode() != nil || v.Lookup("k") != nil {
		t.Error("an absent value has something")
	}
}

func TestValueLookup(t *testing.T) {
	m := Value(encode(t, Map{{Symbol("a"), int32(1)}, {uint64(7), "seven"}, {"b", List{"x"}}, {"a", "second"}, {"c", Described{uint64(1), Map{}}}}))
	for key, want := range map[string]any{"a": int32(1), "b": List{"x"}, "c": Described{uint64(1), Map{}}, "d": nil, "": nil} {
		got := m.Lookup(key)
		if (got == nil) != (want == nil) || !reflect.DeepEqual(got.Decode(), want) {
			t.Errorf("%q: got %x, want %v", key, got, want)
		}
	}
	var keys, values List
	for k, v := range m.Entries() {
		keys, values = append(keys, k.Decode()), append(values, v.Decode())
	}
	if !reflect.DeepEqual(keys, List{Symbol("a"), uint64(7), "b", "a", "c"}) || values[3] != "second" {
		t.Errorf("got %v, %v", keys, values)
	}
	decoded := m.Decode().(Map)
	if v, ok := decoded.Get("b"); !ok || !reflect.DeepEqual(v, List{"x"}) {
		t.Errorf("got %v, %v", v, ok)
	}
	if v, ok := decoded.Get("nope"); ok || v != nil {
		t.Errorf("got %v, %v", v, ok)
	}
}

// Decoding allocates memory in proportion to the bytes present, for any sizes that the value claims.
func TestDecodeMemoryIsBounded(t *testing.T) {
	list := func(elements []byte, each int) []byte {
		b := append([]byte{0xd0, 0, 0, 0, 0, 0, 0, 0, 0}, elements...)
		return CloseCompound(append([]byte{0xc0, 0, 0}, elements...), 0, len(b[9:])/each)
	}
	for name, encoded := range map[string][]byte{
		"nulls":        list(bytes.Repeat([]byte{0x40}, 64<<10), 1),
		"empty lists":  list(bytes.Repeat([]byte{0x45}, 64<<10), 1),
		"empty maps":   list(bytes.Repeat([]byte{0xc1, 1, 0}, 16<<10), 3),
		"empty arrays": list(bytes.Repeat([]byte{0xe0, 2, 0, 0x40}, 16<<10), 4),
		"wide arrays":  list(bytes.Repeat([]byte{0xe0, 2, 255, 0x40}, 16<<10), 4),
		"described":    list(bytes.Repeat([]byte{0, 0x40, 0x40}, 16<<10), 3),
		"booleans":     append([]byte{0xf0, 0, 1, 0, 5, 0, 1, 0, 0, 0x56}, make([]byte, 64<<10)...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := decodeValue(encoded)
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(32*len(encoded)+64<<10); got > limit {
			t.Errorf("%s: %d bytes allocated for %d (%v)", name, got, len(encoded), err)
		}
		if wide := name == "wide arrays"; wide != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValuesDoNotAllocate(t *testing.T) {
	m := Value(encode(t, Map{{Symbol("x-opt-a"), math.Pi}, {"b", List{"x", Array{TypeUUID, []any{UUID{}}}}}, {"c", int64(1 << 40)}}))
	out := make([]byte, 0, 1024)
	for name, f := range map[string]func(){
		"parseValue": func() { _, _, _ = parseValue(m) },
		"Lookup":     func() { _, _ = m.Lookup("c").Int64() },
		"Entries": func() {
			for range m.Entries() {
			}
		},
		"append": func() {
			var start int
			out, start = OpenMap(out[:0])
			out = AppendTimestamp(AppendSymbol(out, "x-opt-enqueued-time"), 1<<40)
			out = AppendUUID(AppendString(out, []byte("id")), UUID{})
			out = CloseCompound(AppendLong(AppendInt(out, 5), 1<<40), start, 6)
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// decodeValue decodes the value at the front of b; rest follows it.
func decodeValue(b []byte) (v any, rest []byte, err error) {
	c := cursor{b: b}
	if v = c.decode(1); c.fault != sound {
		return nil, nil, Errorf(c.fault.condition(), "cannot decode a value")
	}
	return v, c.b, nil
}

// parseValue checks the value at the front of b as decodeValue does, without copying it.
func parseValue(b []byte) (v Value, rest []byte, err error) {
	c := cursor{b: b}
	if v = c.value(); c.fault != sound {
		return nil, nil, Errorf(c.fault.condition(), "cannot decode a value")
	}
	return v, c.b, nil
}
