// Package report has what a run of candlemark-bench found, and prints it: for people, as JSON, and beside the results of other
// brokers, with the medians and the spread of several rounds. It is pure.
package report
