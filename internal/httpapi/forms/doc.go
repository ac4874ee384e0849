// Package forms has the JSON forms that several sections of the HTTP API show: field tables, times, consumers, links
// to connections, counts, and rates, which are the change between two looks at least 5 s apart.
//
// Holds: one sample for each object that somebody has looked at within 10 min (Rates).
package forms
