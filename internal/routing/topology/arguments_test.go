package topology

import (
	"testing"

	"candlemark/protocol"
)

func TestValidateBinding(t *testing.T) {
	const value, kind = "PRECONDITION_FAILED - Invalid x-match field value ", "PRECONDITION_FAILED - Invalid x-match field type "
	const values, longstr = "; expected all, any, all-with-x, or any-with-x", "; expected longstr"
	tests := []struct {
		name, exchange string
		args           protocol.Table
		want           string // "" when it is good
	}{
		{"absent", "headers", table("a", "1"), ""},
		{"no arguments", "headers", nil, ""},
		{"all", "headers", table("x-match", "all"), ""},
		{"any", "headers", table("x-match", "any"), ""},
		{"all-with-x", "headers", table("x-match", "all-with-x"), ""},
		{"any-with-x", "headers", table("x-match", "any-with-x"), ""},
		{"other exchange types do not look", "topic", table("x-match", int32(5)), ""},
		{"ERR-4 text", "headers", table("x-match", "All"), value + `<<"All">>` + values},
		{"ERR-4 empty", "headers", table("x-match", ""), value + `<<>>` + values},
		{"ERR-4 quotes", "headers", table("x-match", `a"\`), value + `<<"a\"\\">>` + values},
		{"ERR-4 letters past ASCII", "headers", table("x-match", "ä"), value + `<<"ä"/utf8>>` + values},
		{"ERR-4 unprintable", "headers", table("x-match", "a\x00\xff"), value + `<<97,0,255>>` + values},
		{"ERR-5 binary", "headers", table("x-match", []byte("all")), kind + `binary (value <<"all">>)` + longstr},
		{"ERR-5 int", "headers", table("x-match", int32(5)), kind + `signedint (value 5)` + longstr},
		{"ERR-5 bool", "headers", table("x-match", true), kind + `bool (value true)` + longstr},
		{"ERR-5 void", "headers", table("x-match", nil), kind + `void (value undefined)` + longstr},
		{"ERR-5 double", "headers", table("x-match", 2.0), kind + `double (value 2.0)` + longstr},
		{"ERR-5 float", "headers", table("x-match", float32(0.5)), kind + `float (value 0.5)` + longstr},
		{"ERR-5 large double", "headers", table("x-match", 1e30), kind + `double (value 1.0e30)` + longstr},
		{"ERR-5 timestamp", "headers", table("x-match", protocol.Timestamp(9)), kind + `timestamp (value 9)` + longstr},
		{"ERR-5 decimal", "headers", table("x-match", protocol.Decimal{Scale: 2, Value: 314}), kind + `decimal (value {2,314})` + longstr},
		{
			"ERR-5 table", "headers", table("x-match", table("k", "v", "n", int64(1))),
			kind + `table (value [{<<"k">>,longstr,<<"v">>},{<<"n">>,long,1}])` + longstr,
		},
		{"ERR-5 array", "headers", table("x-match", protocol.Array{"v"}), kind + `array (value [{longstr,<<"v">>}])` + longstr},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := ValidateBinding(test.exchange, Binding{Arguments: test.args}, &Queue{Type: "classic"})
			switch {
			case err == nil:
				if test.want != "" {
					t.Errorf("accepted, want %q", test.want)
				}
			case err.Code != protocol.PreconditionFailed || err.Text != test.want:
				t.Errorf("%d %q, want %q", err.Code, err.Text, test.want)
			}
		})
	}
}
