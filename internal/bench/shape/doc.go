// Package shape carries out a run of candlemark-bench against one broker: it declares the objects, runs package load,
// measures the cost meanwhile, and deletes the objects. One file for each shape; bench.go has what all of them share.
//
// Only the goroutine that runs a shape reads clocks and counters; its workers end before it does.
package shape
