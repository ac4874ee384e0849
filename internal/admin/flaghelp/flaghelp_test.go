package flaghelp

import (
	"bytes"
	"testing"
)

func TestExit(t *testing.T) {
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--help"}, 0, "head\n  -n\n\tno value\n  --size <bytes>\n\tof the file, in bytes (default 7)\n", ""},
		{[]string{"-h"}, 0, "head\n  -n\n\tno value\n  --size <bytes>\n\tof the file, in bytes (default 7)\n", ""},
		{[]string{"--siz", "3"}, 64, "", "tool: flag provided but not defined: --siz; did you mean --size?\ntool --help lists the flags\n"},
		{[]string{"-size", "x"}, 64, "", "tool: invalid value \"x\" for flag --size: parse error\ntool --help lists the flags\n"},
		{[]string{"-n=x"}, 64, "", "tool: invalid boolean value \"x\" for --n: parse error\ntool --help lists the flags\n"},
		{[]string{"--color"}, 64, "", "tool: flag provided but not defined: --color\ntool --help lists the flags\n"},
		{[]string{"--size"}, 64, "", "tool: flag needs an argument: --size\ntool --help lists the flags\n"},
	} {
		f := New("tool")
		f.Int("size", 7, "of the file, in `bytes`")
		f.Bool("n", false, "no value")
		var stdout, stderr bytes.Buffer
		code := Exit(f.Parse(c.args), f, "head\n", &stdout, &stderr)
		if code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%v: %d, %q, %q", c.args, code, &stdout, &stderr)
		}
	}
}
