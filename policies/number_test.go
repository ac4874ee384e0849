package policies

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func digits(n int) string { return strings.Repeat("9", n) }

// The length of numbers in requests is bounded, at every depth; stored numbers may be longer.
func TestLongNumbersAreRefused(t *testing.T) {
	for _, body := range []string{
		`{"pattern":"","definition":{"expires":1},"priority":` + digits(310) + `}`,
		`{"pattern":"","definition":{"expires":1},"priority":-` + digits(900_000) + `}`,
		`{"pattern":"","definition":{"expires":` + digits(310) + `}}`,
		`{"pattern":"","definition":{"expires":1},"other":[{"a":[` + digits(310) + `]}]}`,
	} {
		var bad *BodyError
		if _, err := Parse("/", "p", false, []byte(body)); !errors.As(err, &bad) {
			t.Errorf("%.60s: %v", body, err)
		}
		if _, err := Restore("/", "p", false, []byte(body)); err != nil {
			t.Errorf("%.60s is not restored: %v", body, err)
		}
	}
	if _, err := Parse("/", "p", false, []byte(`{"pattern":"","definition":{"expires":1},"priority":-`+digits(309)+`}`)); err != nil {
		t.Error(err)
	}
	if _, err := ParseDefinition([]byte(`{"expires":` + digits(310) + `}`)); err == nil {
		t.Error("a definition with a long number was taken")
	}
}

// Longer numbers that were stored before this bound existed are compared digit by digit: a conversion would take 24 s for each.
func TestLongNumbersCompare(t *testing.T) {
	long, longer := digits(900_000), digits(900_001)
	ascending := []string{"-" + longer, "-" + long, "-1.7976931348623157e308", "-1.0", "0", "0.5", "1.7976931348623157e308", long[1:] + "8", long, longer}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareNumbers(json.Number(a), json.Number(b)); got != want {
				t.Errorf("%.20s (%d) and %.20s (%d): %d, want %d", a, len(a), b, len(b), got, want)
			}
		}
	}
}
