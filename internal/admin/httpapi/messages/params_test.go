package messages

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"candlemark/internal/admin/management"
	"candlemark/internal/text/jsonencode"
)

func TestPayloadsAreCutBetweenCharacters(t *testing.T) {
	for _, test := range []struct {
		body, encoding, text, form string
	}{
		{"hello", "auto", "hello", "string"},
		{"", "auto", "", "string"},
		{"h\xc3", "auto", "h", "string"},         // first byte of é
		{"h\xe2\x82", "auto", "h", "string"},     // first bytes of €
		{"h\xf0\x9f\x98", "auto", "h", "string"}, // first bytes of an emoji
		{"\xe2\x82", "auto", "4oI=", "base64"},   // no complete character
		{"h\xff", "auto", "aP8=", "base64"},      // not the beginning of a character
		{"h\xf0\x9f\x98\x98\xff", "auto", "aPCfmJj/", "base64"},
		{"\xff hello", "auto", "/yBoZWxsbw==", "base64"},
		{"hello", "base64", "aGVsbG8=", "base64"},
	} {
		if text, form := payload([]byte(test.body), test.encoding); text != test.text || form != test.form {
			t.Errorf("%q %s: %q %s", test.body, test.encoding, text, form)
		}
	}
}

func TestTimesOfSchedules_DLY11(t *testing.T) {
	for _, test := range []struct {
		body string
		want management.When
		err  string
	}{
		{`{"due":1800000000000}`, management.When{MS: 1_800_000_000_000}, ""},
		{`{"due":"1800000000000"}`, management.When{MS: 1_800_000_000_000}, ""},
		{`{"due":"2027-01-15T08:00:00Z"}`, management.When{MS: 1_800_000_000_000}, ""},
		{`{"due":"2027-01-15T09:00:00.25+01:00"}`, management.When{MS: 1_800_000_000_250}, ""},
		{`{"due":"2027-01-15T08:00:00.0000001Z"}`, management.When{MS: 1_800_000_000_001}, ""}, // rounded up: never early
		{`{"delay":0}`, management.When{MS: 0, Relative: true}, ""},
		{`{"delay":"90000"}`, management.When{MS: 90_000, Relative: true}, ""},
		{`{}`, management.When{}, "either due or delay is required"},
		{`{"due":null,"delay":1}`, management.When{MS: 1, Relative: true}, ""},
		{`{"due":1,"delay":1}`, management.When{}, "either due or delay is required"},
		{`{"due":0}`, management.When{}, "due must be an RFC 3339 time or milliseconds since 1970, not 0"},
		{`{"due":-5}`, management.When{}, "due must be an RFC 3339 time or milliseconds since 1970, not -5"},
		{`{"due":"1969-12-31T23:59:59Z"}`, management.When{}, "due must be an RFC 3339 time or milliseconds since 1970, not 1969-12-31T23:59:59Z"},
		{`{"due":"2027-01-15"}`, management.When{}, "due must be an RFC 3339 time or milliseconds since 1970, not 2027-01-15"},
		{`{"due":1e3}`, management.When{}, "due must be an RFC 3339 time or milliseconds since 1970, not 1e3"},
		{`{"delay":1.5}`, management.When{}, "delay must be a number of milliseconds, 0 or more, not 1.5"},
		{`{"delay":9223372036854775808}`, management.When{}, "delay must be a number of milliseconds, 0 or more, not 9223372036854775808"},
	} {
		object := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(test.body), &object); err != nil {
			t.Fatal(err)
		}
		got, err := fromObject(object).when()
		if text := ""; err != nil {
			if text = err.Error(); text != test.err {
				t.Errorf("%s: %s", test.body, text)
			}
		} else if got != test.want || test.err != "" {
			t.Errorf("%s: %+v", test.body, got)
		}
	}
}

func TestCursorsComeBack(t *testing.T) {
	for _, c := range []management.Cursor{{Seq: 1}, {Seq: 1<<64 - 1}, {Due: 1_800_000_000_000, Seq: 7}} {
		if got, err := queried(*next(&c)).after(); got != c || err != nil {
			t.Errorf("%+v: %+v %v", c, got, err)
		}
	}
	if c, err := queried("").after(); c != (management.Cursor{}) || err != nil {
		t.Errorf("%+v %v", c, err)
	}
	for _, bad := range []string{"x", "-1", "1-", "1-2-3", "18446744073709551616"} {
		if c, err := queried(bad).after(); err == nil {
			t.Errorf("%s: %+v", bad, c)
		}
	}
}

// Payloads that would be much longer in JSON are sent as base64, and decimals have few digits (TestDecimalsAreShort):
// so the bytes that a queue counts for an answer bound its size.
func TestPeekedIsNotMuchLargerThanWhatItShows(t *testing.T) {
	for _, body := range []string{strings.Repeat("\x00", 3000), strings.Repeat("\"\\", 1500), strings.Repeat("\u2028", 1000), "a\nb\tc"} {
		item := jsonencode.Marshal(peeked(&management.Peeked{Body: []byte(body)}, "auto"))
		if len(item) > 2*len(body)+500 {
			t.Errorf("%.5q: %d bytes for %d", body, len(item), len(body))
		}
	}
	if item := peeked(&management.Peeked{Body: []byte("a\nb\tc")}, "auto"); item.Encoding != "string" {
		t.Errorf("a text is %s", item.Encoding)
	}
	how, _, err := params{"truncate": "2147483647"}.peek()
	if err != nil || how.Cut != maxShown {
		t.Errorf("%d bytes of a body, %v", how.Cut, err)
	}
}

// queried returns the parameters of a query with a cursor.
func queried(after string) params {
	w, _ := fromQuery(url.Values{"after": {after}})
	return w
}
