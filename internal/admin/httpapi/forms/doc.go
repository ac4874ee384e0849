// Package forms has the JSON forms that several sections of the HTTP API show: field tables, times, consumers, links
// to connections, counts, and rates, which are the change between two looks at least 5 s apart.
//
// Holds: one sample for each object requested within 10 min (Rates), and series of samples of objects whose samples
// are requested, 512 at most (samples.go). 128 objects at most are sampled every 5 s without requests (refresh.go).
package forms
