// Package shape carries out a run of candlemark-bench against one broker: it declares the objects, runs package load,
// measures the cost while it runs, and deletes the objects. Each shape has one file; bench.go has the code that all
// shapes share.
//
// Only the goroutine that runs a shape reads clocks and counters; its workers end before it does.
package shape
