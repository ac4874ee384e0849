package config

import (
	"strings"
	"testing"
)

// TestTestClock_CLK1: the flag may have a value, and the variable has one; other texts are refused.
func TestTestClock_CLK1(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  string
		want string
	}{
		{nil, "", ""},
		{[]string{"--test-clock"}, "", "now"},
		{[]string{"--test-clock=now"}, "", "now"},
		{[]string{"--test-clock=2027-01-01T00:00:00Z"}, "", "2027-01-01T00:00:00Z"},
		{[]string{"--test-clock=false"}, "now", ""},
		{nil, "2027-01-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00"},
	} {
		env := map[string]string{}
		if c.env != "" {
			env["CANDLEMARK_TEST_CLOCK"] = c.env
		}
		s, err := load(t, "", environ(env), c.args...)
		if err != nil || s.Testing.Clock != c.want {
			t.Errorf("%q, %q: %q, %v", c.args, c.env, s.Testing.Clock, err)
			continue
		}
		if at, is := s.Testing.Start(); is != (c.want != "") || is && c.want != "now" && at.Unix()%3600 != 0 {
			t.Errorf("%q: begins at %v, %v", c.args, at, is)
		}
	}
	for _, text := range []string{"x", "2027-01-01", "1969-01-01T00:00:00Z", "2262-01-01T00:00:00Z"} {
		if _, err := load(t, "", nil, "--test-clock="+text); err == nil || !strings.Contains(err.Error(), `invalid boolean value "`+text+`" for -test-clock: a time like 2027-01-01T00:00:00Z, or now`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestInMemory: a broker in memory has no data folder, and a flag for one is refused.
func TestInMemory(t *testing.T) {
	if s, err := load(t, "data_dir = /var/lib/x\n", nil, "--in-memory"); err != nil || s.DataDir != "" || !s.InMemory {
		t.Error(s, err)
	}
	if _, err := load(t, "", nil, "--in-memory", "--data-dir", "/x"); err == nil || err.Error() != "--in-memory has no data folder" {
		t.Error(err)
	}
}
