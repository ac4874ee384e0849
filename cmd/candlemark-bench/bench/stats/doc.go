// Package stats has the statistics of package bench: histograms of durations, into which several goroutines record
// ([Recorder]) and which may have negative values ([Signed]), and medians of repeated runs ([Spread]). It is pure.
//
// A histogram is of fixed size (200 KiB) for any number of values: values above an hour count as an hour.
package stats
