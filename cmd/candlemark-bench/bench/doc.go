// Package bench is candlemark-bench: it puts a load on a broker over AMQP and reports its throughput, its costs, its
// punctuality, and whether every message arrived. The broker may be any that speaks AMQP 0-9-1.
//
//	profile  the flags, and what profiles stand for      shape   what a run does, one file for each shape
//	load     producers, consumers, callers               wire    their client of AMQP
//	verify   what came, and what did not                 proc    what the broker's processes cost
//	stats    histograms, medians                         report  what is printed
//
// This package reads the command line, repeats runs to compare brokers, and has the exit codes.
package bench
