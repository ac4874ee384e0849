package format

import (
	"fmt"
	"io"
)

// ImportReport comes back from an import of definitions.
type ImportReport struct {
	Imported bool           `json:"imported"`
	Counts   map[string]int `json:"counts"`
	Warnings []string       `json:"warnings"`
	Items    []struct {
		Section, VHost, Name string
		Notes                []struct{ Verdict, Text string }
	} `json:"items"`
}

// Write shows everything that is to be said about items, and how many there are of each kind.
func (r *ImportReport) Write(out io.Writer) {
	for _, i := range r.Items {
		for _, note := range i.Notes {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", note.Verdict, i.Section, i.VHost, i.Name, note.Text)
		}
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(out, "warning\t%s\n", warning)
	}
	fmt.Fprintf(out, "taken %d, approximated %d, risky %d, ignored %d, refused %d\n",
		r.Counts["taken"], r.Counts["approximated"], r.Counts["risky"], r.Counts["ignored"], r.Counts["refused"])
}
