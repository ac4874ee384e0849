package config

import "testing"

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "50000000": 50_000_000, "50MB": 50_000_000, "50mb": 50_000_000, "2GB": 2_000_000_000, "1kB": 1000, "1Kb": 1000,
		"2k": 2048, "2K": 2048, "2kiB": 2048, "3M": 3 << 20, "3MiB": 3 << 20, "4G": 4 << 30, "4GIB": 4 << 30, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MB", "-5", "1.5GB", "10XB", "10 MB", "5b", "9223372036854775807k", "1e3", "i"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestParseAmounts(t *testing.T) {
	for _, c := range []struct {
		text string
		of   func(string) (Amount, error)
		want Amount
		fail bool
	}{
		{text: "0.4", of: ParseWatermark, want: Share(0.4)},
		{text: "1", of: ParseWatermark, want: Share(1)},
		{text: "0", of: ParseWatermark, want: Share(0)},
		{text: "200MB", of: ParseWatermark, want: Amount{Bytes: 200_000_000}},
		{text: "200000000", of: ParseWatermark, want: Amount{Bytes: 200_000_000}},
		{text: "1.5", of: ParseWatermark, fail: true},
		{text: "-0.1", of: ParseWatermark, fail: true},
		{text: "NaN", of: ParseWatermark, fail: true},
		{text: "50MB", of: ParseDiskLimit, want: Amount{Bytes: 50_000_000}},
		{text: "mem_relative 1.5", of: ParseDiskLimit, want: Share(1.5)},
		{text: "mem_relative:0", of: ParseDiskLimit, want: Share(0)},
		{text: "mem_relative", of: ParseDiskLimit, fail: true},
		{text: "mem_relative -1", of: ParseDiskLimit, fail: true},
		{text: "mem_relative NaN", of: ParseDiskLimit, fail: true},
		{text: "mem_relative inf", of: ParseDiskLimit, fail: true},
		{text: "0.4", of: ParseDiskLimit, fail: true},
	} {
		if got, err := c.of(c.text); (err != nil) != c.fail || got != c.want {
			t.Errorf("%s: %+v %v", c.text, got, err)
		}
	}
	if n := Share(0.4).Of(1000); n != 400 {
		t.Error(n)
	}
	if n := (Amount{Bytes: 7}).Of(1000); n != 7 {
		t.Error(n)
	}
}
