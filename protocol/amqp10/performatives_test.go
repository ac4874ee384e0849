package amqp10

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

var (
	someMap  = Map{{Symbol("product"), "x"}, {Symbol("n"), int32(4)}}
	someErr  = &Error{NotFound, "no queue", Map{{Symbol("k"), true}}}
	symbols  = []Symbol{"a", "b"}
	someMode = Some(ReceiverSecond)
)

// composites are performatives, SASL frames and the types that they contain, with their encodings by the field lists of
// the specification. Performatives and errors are encoded with all of their fields.
var composites = []struct {
	name   string
	value  Composite
	golden string
}{
	{"open", &Open{ContainerID: "c", MaxFrameSize: math.MaxUint32, ChannelMax: math.MaxUint16}, "005310c00d0a" + "a10163" + "404040404040404040"},
	{
		"open with everything",
		&Open{"c", "h", 512, 7, Some[uint32](30000), symbols, []Symbol{"en-US"}, symbols, symbols, someMap},
		"005310c04a0a" + "a10163" + "a10168" + "7000000200" + "600007" + "7000007530" +
			"e00602a301610162" + "e00801a305656e2d5553" + "e00602a301610162" + "e00602a301610162" +
			"c11204" + "a30770726f64756374" + "a10178" + "a3016e" + "5404",
	},
	{"begin", &Begin{NextOutgoingID: 0, IncomingWindow: 10, OutgoingWindow: 300, HandleMax: math.MaxUint32}, "005311c00e08" + "40" + "43" + "520a" + "700000012c" + "40404040"},
	{"begin, answered", &Begin{Some[uint16](1), 1, 2, 3, 255, symbols, nil, nil}, "005311c01608" + "600001" + "5201" + "5202" + "5203" + "52ff" + "e00602a301610162" + "4040"},
	{"attach", &Attach{Name: "l", Role: RoleReceiver, SndSettleMode: SenderMixed}, "005312c0110e" + "a1016c" + "43" + "41" + "4040404040404040404040"},
	{
		"attach with termini",
		&Attach{
			Name: "l", Handle: 1, SndSettleMode: SenderSettled, RcvSettleMode: ReceiverSecond,
			Source:               &Source{Address: Some("q"), ExpiryPolicy: ExpireSessionEnd, DefaultOutcome: State{Kind: Released}, Outcomes: []Symbol{AcceptedName}},
			Target:               &Target{Address: Some(""), ExpiryPolicy: "never"},
			InitialDeliveryCount: Some[uint32](0), MaxMessageSize: Some[uint64](1 << 20),
		},
		"",
	},
	{"attach to a coordinator", &Attach{Name: "t", Coordinator: &Coordinator{symbols}, SndSettleMode: SenderMixed}, ""},
	{"attach with all", &Attach{
		"n", 9, true, SenderUnsettled, ReceiverFirst,
		&Source{Some("a"), 2, "never", 5, true, someMap, "copy", Map{{Symbol("f"), Described{uint64(1), "x"}}}, State{Kind: Rejected, Error: someErr}, symbols, symbols},
		&Target{Some("b"), 1, "link-detach", 6, true, someMap, symbols}, nil,
		Map{{[]byte("tag"), nil}},
		true, Some[uint32](1), Some[uint64](0), symbols, symbols, someMap,
	}, ""},
	{"flow of a session", &Flow{Some[uint32](0), 5, 6, 7, Optional[uint32]{}, Optional[uint32]{}, Optional[uint32]{}, Optional[uint32]{}, false, false, nil}, "005313c00f0b" + "43" + "5205" + "5206" + "5207" + "40404040404040"},
	{"flow of a link", &Flow{Handle: Some[uint32](0), LinkCredit: Some[uint32](170), Drain: true, Echo: true, Properties: someMap}, ""},
	{"flow with all", &Flow{Some[uint32](1), 2, 3, 4, Some[uint32](5), Some[uint32](6), Some[uint32](7), Some[uint32](8), true, true, nil}, ""},
	{"transfer", &Transfer{Handle: 1, DeliveryID: Some[uint32](2), DeliveryTag: []byte("t"), MessageFormat: Some[uint32](0), Settled: true}, "005314c0100b" + "5201" + "5202" + "a00174" + "43" + "41" + "404040404040"},
	{"transfer, continued", &Transfer{Handle: 1, More: true}, "005314c00d0b" + "5201" + "40404040" + "41" + "4040404040"},
	{"transfer with all", &Transfer{1, Some[uint32](2), []byte{}, Some[uint32](0x80013700), true, true, someMode, State{Kind: Received, SectionNumber: 1, SectionOffset: 2}, true, true, true}, ""},
	{"disposition", &Disposition{Role: true, First: 1, Last: Some[uint32](5), Settled: true, State: State{Kind: Accepted}}, "005315c00c06" + "41" + "5201" + "5205" + "41" + "00532445" + "40"},
	{"rejected", &Disposition{State: State{Kind: Rejected, Error: someErr}, Batchable: true}, ""},
	{"rejected without error", &Disposition{State: State{Kind: Rejected}}, "005315c00a06" + "42" + "43" + "4040" + "00532545" + "40"},
	{"released", &Disposition{State: State{Kind: Released}}, ""},
	{"modified", &Disposition{State: State{Kind: Modified, DeliveryFailed: true, UndeliverableHere: true, MessageAnnotations: someMap}}, ""},
	{"declared", &Disposition{State: State{Kind: Declared, TxnID: []byte{1}}}, ""},
	{"transactional", &Disposition{State: State{Kind: Transactional, TxnID: []byte{1}, Outcome: Value{0, 0x53, 0x24, 0x45}}}, ""},
	{"detach", &Detach{Handle: 2, Closed: true, Error: someErr}, ""},
	{"end", &End{}, "005317c0020140"},
	{"end with error", &End{&Error{Condition: "x:y"}}, "005317c00e01" + "00531dc00803" + "a303783a79" + "4040"},
	{"close", &Close{&Error{InternalError, "oops", nil}}, ""},
	{"sasl-mechanisms", &SASLMechanisms{[]Symbol{"PLAIN", "ANONYMOUS"}}, "005340c01501" + "e01202a3" + "05504c41494e" + "09414e4f4e594d4f5553"},
	{"sasl-init", &SASLInit{"PLAIN", []byte("\x00u\x00p"), "h"}, "005341c01103" + "a305504c41494e" + "a00400750070" + "a10168"},
	{"sasl-init without response", &SASLInit{"EXTERNAL", nil, ""}, ""},
	{"sasl-challenge", &SASLChallenge{[]byte{}}, "005342c00301a000"},
	{"sasl-response", &SASLResponse{[]byte("r")}, ""},
	{"sasl-outcome", &SASLOutcome{SASLAuthFailed, []byte("d")}, "005344c00602" + "5001" + "a00164"},
}

func TestComposites(t *testing.T) {
	for _, tt := range composites {
		t.Run(tt.name, func(t *testing.T) {
			encoded := AppendComposite(nil, tt.value)
			if golden := unhex(t, tt.golden); tt.golden != "" && !bytes.Equal(encoded, golden) {
				t.Errorf("encodes to %x, want %x", encoded, golden)
			}
			f, n, _, err := ParseFrame(AppendFrame(nil, 3, tt.value), 1<<20)
			if err != nil || n == 0 {
				t.Fatal(err)
			}
			got, payload, err := f.Decode()
			if err != nil || len(payload) != 0 || !reflect.DeepEqual(got, tt.value) {
				t.Errorf("got %+v, %x, %v, want %+v", got, payload, err, tt.value)
			}
			if viaAny, err := Append(nil, tt.value); err != nil || !bytes.Equal(viaAny, encoded) {
				t.Errorf("Append: %x, %v", viaAny, err)
			}
			for n := range encoded {
				if _, err := DecodeInto(encoded[:n:n], performative(uint64(encoded[2]))); err == nil {
					t.Fatalf("%d of %d bytes are enough", n, len(encoded))
				}
			}
		})
	}
}

// Peers may send other encodings than ours.
func TestCompositesOtherEncodings(t *testing.T) {
	for name, tt := range map[string]struct {
		encoded string
		want    Composite
	}{
		"list32":                     {"005317d000000005" + "00000001" + "40", &End{}},
		"list8 without fields":       {"005317c00100", &End{}},
		"ulong for a descriptor":     {"00800000000000000017" + "45", &End{}},
		"a name for a descriptor":    {"00a30d616d71703a656e643a6c697374" + "45", &End{}},
		"nulls at the end":           {"005316c00503" + "5201" + "40" + "40", &Detach{Handle: 1}},
		"wide numbers":               {"005316c00802" + "7000000001" + "5601", &Detach{Handle: 1, Closed: true}},
		"a symbol in place of many":  {"005340c00501" + "a3024142", &SASLMechanisms{[]Symbol{"AB"}}},
		"an array of symbol32":       {"005340c00d01" + "e00a01b30000000441424344", &SASLMechanisms{[]Symbol{"ABCD"}}},
		"an empty array for many":    {"005340c00501" + "e00200a3", &SASLMechanisms{[]Symbol{}}},
		"an outcome by its name":     {"005315c01b05" + "42434042" + "00a312616d71703a61636365707465643a6c697374" + "45", &Disposition{State: State{Kind: Accepted}}},
		"an outcome with empty list": {"005315c00b05" + "42434042" + "005326c00100", &Disposition{State: State{Kind: Released}}},
		"a null terminus":            {"005312c00906" + "a1016c" + "43" + "42" + "404040", &Attach{Name: "l", SndSettleMode: SenderMixed}},
		"a state that is null":       {"005315c00605" + "42434042" + "40", &Disposition{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := reflect.New(reflect.TypeOf(tt.want).Elem()).Interface().(Composite)
			rest, err := DecodeInto(unhex(t, tt.encoded), got)
			if err != nil || len(rest) != 0 || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %x, %v, want %+v", got, rest, err, tt.want)
			}
		})
	}
}

// Decoding into a used struct leaves nothing of its earlier contents.
func TestDecodeIntoUsedStructs(t *testing.T) {
	for _, tt := range composites {
		empty := performative(uint64(AppendComposite(nil, tt.value)[2]))
		if open, ok := empty.(*Open); ok {
			open.MaxFrameSize = MinMaxFrameSize
		}
		encoded := AppendComposite(nil, empty)
		fresh, used := reflect.New(reflect.TypeOf(tt.value).Elem()).Interface().(Composite), tt.value
		copied := reflect.New(reflect.TypeOf(used).Elem())
		copied.Elem().Set(reflect.ValueOf(used).Elem())
		_, err1 := DecodeInto(encoded, fresh)
		_, err2 := DecodeInto(encoded, copied.Interface().(Composite))
		if err1 != nil || err2 != nil || !reflect.DeepEqual(fresh, copied.Interface()) {
			t.Errorf("%s: got %+v, want %+v (%v, %v)", tt.name, copied.Interface(), fresh, err1, err2)
		}
	}
}

func TestCompositesBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		value   Composite // is encoded, if not nil
		into    Composite // type that must not be accepted
		encoded string    // used if value is nil
	}{
		"a tag of 33 bytes":           {&Transfer{DeliveryTag: make([]byte, 33)}, new(Transfer), ""},
		"a max-frame-size of 511":     {&Open{MaxFrameSize: 511}, new(Open), ""},
		"rcv-settle-mode 2":           {&Attach{RcvSettleMode: 2}, new(Attach), ""},
		"snd-settle-mode 3":           {&Attach{SndSettleMode: 3}, new(Attach), ""},
		"a transfer's rcv mode":       {&Transfer{RcvSettleMode: Some[uint8](2)}, new(Transfer), ""},
		"SASL code 5":                 {&SASLOutcome{Result: 5}, new(SASLOutcome), ""},
		"another performative":        {&End{}, new(Close), ""},
		"a state that there is not":   {&Disposition{State: State{Kind: 0x28}}, new(Disposition), ""},
		"an error for a state":        {nil, new(Disposition), "005315c00905" + "42434042" + "00531d45"},
		"a source for a target":       {nil, new(Attach), "005312c00d07" + "a1016c" + "4342404040" + "00532845"},
		"a string for a symbol":       {nil, new(SASLMechanisms), "005340c00401" + "a10141"},
		"an array of strings":         {nil, new(SASLMechanisms), "005340c00701" + "e00401a10141"},
		"a list for a map":            {nil, new(Open), "005310c00d0a" + "a10163" + "4040404040404040" + "45"},
		"a transfer without handle":   {nil, new(Transfer), "00531445"},
		"an attach without role":      {nil, new(Attach), "005312c00502" + "a1016c" + "43"},
		"rejected with a wrong error": {nil, new(Disposition), "005315c00f05" + "42434042" + "005325c0050100531745"},
	} {
		t.Run(name, func(t *testing.T) {
			b := unhex(t, tt.encoded)
			if tt.value != nil {
				b = AppendComposite(nil, tt.value)
			}
			_, err := DecodeInto(b, tt.into)
			refused(t, err, InvalidField)
		})
	}
}
