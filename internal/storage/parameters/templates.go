package parameters

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// templateNames are the names of templates (REC-6).
var templateNames = []string{"time", "date", "unix_ms", "previous", "next", "run", "name"}

// ExpandTemplate replaces ${name} by the value of the name, and $$ by $. Without a function for values it only checks. Errors:
// an unknown name, or one that does not end.
func ExpandTemplate(text string, value func(name string) string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		switch {
		case !found:
			return out.String(), nil
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "{"):
			name, rest, ends := strings.Cut(after[1:], "}")
			switch {
			case !ends:
				return "", errors.New("a template does not end with }")
			case !slices.Contains(templateNames, name):
				return "", fmt.Errorf("unknown template '${%s}'", name)
			case value != nil:
				out.WriteString(value(name))
			}
			text = rest
		default:
			out.WriteByte('$')
			text = after
		}
	}
}

// RunDate returns the date of a run, in ms since 1970, as a text.
func RunDate(at int64, zone *time.Location) string {
	return time.UnixMilli(at).In(zone).Format("2006-01-02T15:04:05.999Z07:00")
}

// TemplateValue returns the value of a template for a run with a nominal time, in ms since 1970, and a number, 0 for none; "" for what
// there is not.
func (s *ScheduleSpec) TemplateValue(name string, at, run int64) string {
	zone := s.Times.Zone
	if zone == nil {
		zone = time.UTC
	}
	switch name {
	case "time":
		return RunDate(at, zone)
	case "date":
		return time.UnixMilli(at).In(zone).Format(time.DateOnly)
	case "unix_ms":
		return strconv.FormatInt(at, 10)
	case "previous":
		if before, ok := s.Times.Last(s.Created, at-1); ok {
			return RunDate(before, zone)
		}
	case "next":
		if after, _, ok := s.Times.Next(at); ok {
			return RunDate(after, zone)
		}
	case "run":
		if run > 0 {
			return strconv.FormatInt(run, 10)
		}
	case "name":
		return s.Name
	}
	return ""
}
