package message

import "testing"

func TestTTL5_TTL6_Expiration(t *testing.T) {
	for _, c := range []struct {
		text string
		ms   int64
		err  string
	}{
		{"0", 0, ""},
		{"-0", 0, ""},
		{"+5000", 5000, ""},
		{"007", 7, ""},
		{"315360000000", MaxTTL, ""},
		{"abc", 0, "no_integer"},
		{"", 0, "no_integer"},
		{" 5", 0, "no_integer"},
		{"+", 0, "no_integer"},
		{"10x", 0, `{leftover_string,"x"}`},
		{"5 ", 0, `{leftover_string," "}`},
		{"1.5", 0, `{leftover_string,".5"}`},
		{"1e3", 0, `{leftover_string,"e3"}`},
		{"5\n", 0, `{leftover_string,"\n"}`},
		{`5"\`, 0, `{leftover_string,"\"\\"}`},
		{"5\x01x", 0, "{leftover_string,[1,120]}"},
		{"-1", 0, "{value_negative,-1}"},
		{"-007", 0, "{value_negative,-7}"},
		{"315360000001", 0, "{value_too_large,315360000001}"},
		{"99999999999999999999", 0, "{value_too_large,99999999999999999999}"},
	} {
		ms, err := ParseTTL([]byte(c.text))
		if c.err == "" {
			if err != nil || ms != c.ms {
				t.Errorf("%q: %d %v, want %d", c.text, ms, err, c.ms)
			}
			continue
		}
		want := "channel error 406: PRECONDITION_FAILED - invalid expiration '" + c.text + "': " + c.err
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", c.text, err, want)
		}
	}
}
