package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Span defines how samples are kept: one every Every, for Length.
type Span struct{ Length, Every time.Duration }

// Samples are the periods for which the HTTP API keeps samples of objects, from the shortest to the longest; none for
// no samples.
type Samples struct {
	Overview []Span // of the broker as a whole
	Objects  []Span // of all other objects
}

const (
	// minSample is the minimum time between two samples.
	minSample = 5 * time.Second
	// maxSamples is the maximum number of samples of a span, maxSpans the maximum number of spans.
	maxSamples = 1000
	maxSpans   = 6
)

// SampleSpans reads the spans of the settings.
func (c Config) SampleSpans() (s Samples, err error) {
	overview, err := spans(c.SamplesOverview)
	objects, wrong := spans(c.SamplesObjects)
	return Samples{overview, objects}, errors.Join(err, wrong)
}

// spans reads texts such as 3600/60: an hour, a sample a minute.
func spans(texts []string) (list []Span, err error) {
	if len(texts) > maxSpans {
		return nil, fmt.Errorf("more than %d spans", maxSpans)
	}
	for _, text := range texts {
		length, every, _ := strings.Cut(text, "/")
		l, bad := strconv.ParseUint(length, 10, 31)
		e, worse := strconv.ParseUint(every, 10, 31)
		s := Span{time.Duration(l) * time.Second, time.Duration(e) * time.Second}
		if bad != nil || worse != nil || s.Every < minSample || s.Length < s.Every || s.Length/s.Every > maxSamples {
			return nil, fmt.Errorf("%q is not of the form LENGTH/INTERVAL in seconds, with an interval of at least %d s and at most %d samples",
				text, minSample/time.Second, maxSamples)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Span) int { return cmp.Compare(a.Length, b.Length) })
	return list, nil
}

// retention reads a length in RabbitMQ's words, the last segment of the key, and the time between samples as its value.
func retention(value, last, _ string) (string, error) {
	if named, known := map[string]string{"minute": "60", "hour": "3600", "day": "86400"}[last]; known {
		last = named
	}
	text := last + "/" + value
	if _, err := spans([]string{text}); err != nil {
		return "", err
	}
	return text, nil
}

// checkSamples records invalid spans.
func (c Config) checkSamples(wrong *problems) {
	if _, err := spans(c.SamplesOverview); err != nil {
		wrong.add("samples-overview", "%v", err)
	}
	if _, err := spans(c.SamplesObjects); err != nil {
		wrong.add("samples-objects", "%v", err)
	}
}
