package forms

import "time"

// Stamp returns the form of a time.
func Stamp(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000-07:00")
}

// Optional returns the form of a time that may be missing.
func Optional(ms int64) *string {
	if ms == 0 {
		return nil
	}
	text := Stamp(ms)
	return &text
}

// OrNull returns the form of a name: null for none (POL-11).
func OrNull(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}
