// Package forms has the JSON forms that several sections of the HTTP API show: field tables, times, consumers, links
// to connections, counts, and rates, which are the change between two looks at least 5 s apart.
//
// Holds: one sample for each object that somebody has looked at within 10 min (Rates), and series of samples of objects that
// somebody wants samples of, 512 at most (samples.go). 128 objects at most are looked at every 5 s while nobody asks (refresh.go).
package forms
