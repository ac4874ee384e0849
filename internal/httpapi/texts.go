package httpapi

import "time"

// stamp is the form of a time.
func stamp(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000-07:00")
}

// optional is the form of a time that may be missing.
func optional(ms int64) *string {
	if ms == 0 {
		return nil
	}
	text := stamp(ms)
	return &text
}

// orNull is the form of a name: null for none (POL-11).
func orNull(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}
