// Command candlemark-bench puts load on a broker that speaks AMQP, and reports throughput, latency, cost, punctuality and
// loss; see package bench.
package main
