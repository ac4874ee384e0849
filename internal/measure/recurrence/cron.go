package recurrence

import (
	"fmt"
	"strconv"
	"strings"
)

// Cron is a parsed cron expression. It is immutable.
type Cron struct {
	seconds, minutes, hours set
	days, months, weekdays  set
	// both: a day must match day of month and day of week, because one of the fields begins with *; else one is enough.
	both bool
	// elapsed: the hour field begins with *, so the times follow elapsed time, not the wall clock (REC-3).
	elapsed bool
}

// set is a set of numbers below 64.
type set uint64

func (s set) has(n int) bool { return s&(1<<n) != 0 }

// next returns the first member from n on, false if there is none.
func (s set) next(n int) (int, bool) {
	for ; n < 64; n++ {
		if s.has(n) {
			return n, true
		}
	}
	return 0, false
}

// field describes the field of an expression.
type field struct {
	name      string
	low, high int
	names     []string // of the numbers from low on
}

var (
	seconds  = field{"second", 0, 59, nil}
	minutes  = field{"minute", 0, 59, nil}
	hours    = field{"hour", 0, 23, nil}
	days     = field{"day of the month", 1, 31, nil}
	months   = field{"month", 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}}
	weekdays = field{"day of the week", 0, 7, []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}}
)

// abbreviations are the expressions with a name.
var abbreviations = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *",
	"@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// MaxExpression is the greatest length of an expression in bytes.
const MaxExpression = 1024

// ParseCron reads an expression of five fields, or six with the seconds first (REC-2): numbers, names of months and days,
// lists, ranges, which may wrap around, and steps; ? is *, and 7 is Sunday. If neither the day of the month nor the day of the week begins
// with *, one of them is enough, as in cron. Also @yearly, @monthly, @weekly, @daily and @hourly.
func ParseCron(text string) (*Cron, error) {
	if len(text) > MaxExpression {
		return nil, fmt.Errorf("a cron expression has at most %d bytes", MaxExpression)
	}
	if strings.HasPrefix(text, "@") {
		full := abbreviations[strings.ToLower(text)]
		if full == "" {
			return nil, fmt.Errorf("%q is not a cron expression; @yearly, @monthly, @weekly, @daily and @hourly are", text)
		}
		text = full
	}
	parts := strings.Fields(text)
	switch len(parts) {
	case 5:
		parts = append([]string{"0"}, parts...)
	case 6:
	default:
		return nil, fmt.Errorf("a cron expression has 5 fields, or 6 with the seconds first; this one has %d", len(parts))
	}
	c := &Cron{}
	for i, f := range []struct {
		of *field
		to *set
	}{
		{&seconds, &c.seconds},
		{&minutes, &c.minutes},
		{&hours, &c.hours},
		{&days, &c.days},
		{&months, &c.months},
		{&weekdays, &c.weekdays},
	} {
		var err error
		if *f.to, err = f.of.parse(parts[i]); err != nil {
			return nil, err
		}
	}
	if c.weekdays.has(7) {
		c.weekdays |= 1
	}
	c.both, c.elapsed = star(parts[3]) || star(parts[5]), star(parts[2])
	return c, nil
}

// star reports whether a field begins with *.
func star(text string) bool { return text[0] == '*' || text[0] == '?' }

// parse reads a list of ranges.
func (f *field) parse(text string) (all set, err error) {
	for item := range strings.SplitSeq(text, ",") {
		s, err := f.parseRange(item)
		if err != nil {
			return 0, err
		}
		all |= s
	}
	return all, nil
}

// parseRange reads *, a number, or a range, each with or without a step. A number with a step is a range up to the end.
func (f *field) parseRange(item string) (s set, err error) {
	span, by, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		if step, err = strconv.Atoi(by); err != nil || step < 1 || step > f.high {
			return 0, fmt.Errorf("%s: the step %q is not in 1-%d", f.name, by, f.high)
		}
	}
	low, high := f.low, f.last()
	if span != "*" && span != "?" {
		from, to, ranged := strings.Cut(span, "-")
		if low, err = f.number(from); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if high, err = f.number(to); err != nil {
				return 0, err
			}
		case !stepped:
			high = low
		}
	}
	if high < low { // it wraps around; 7 is 0 then
		high += f.last() - f.low + 1
	}
	for n := low; n <= high; n += step {
		if n > f.high {
			s |= 1 << (n - f.last() + f.low - 1)
		} else {
			s |= 1 << n
		}
	}
	return s, nil
}

// last returns the last of the different numbers: 7 is 0 again.
func (f *field) last() int {
	if f == &weekdays {
		return 6
	}
	return f.high
}

// number reads a number or a name.
func (f *field) number(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.low + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && strings.ContainsAny(strings.ToUpper(text), "LW#"):
		return 0, fmt.Errorf("%s: %q is not supported", f.name, text)
	case err != nil || n < f.low || n > f.high || text[0] == '+':
		return 0, fmt.Errorf("%s: %q is not in %d-%d", f.name, text, f.low, f.high)
	}
	return n, nil
}
