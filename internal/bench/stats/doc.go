// Package stats has the statistics of package bench: histograms of durations, into which several goroutines record
// ([Recorder]) and which may have negative values ([Signed]), and medians of repeated runs ([Spread]). It is pure.
//
// A histogram is of fixed size (200 KiB), however many values it has: those above an hour count as an hour.
package stats
