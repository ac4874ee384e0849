// Package shape carries out a run of candlemark bench against one broker: it declares what is needed, lets package load work, looks
// at the cost meanwhile, and removes what it made. One file for each shape; bench.go has what all of them share.
//
// Only the goroutine that runs a shape reads clocks and counters; what works for it ends before it does.
package shape
