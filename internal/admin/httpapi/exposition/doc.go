// Package exposition is the section of the HTTP API that monitoring systems scrape: the numbers of the broker in
// Prometheus' text format and in OpenMetrics, under the names and labels that RabbitMQ gives them, so that its
// dashboards work unchanged, and the broker's own metrics under candlemark_ (ADR 47).
//
// Owns: which number is shown under which name. The numbers come from management.Broker. A page is written one family
// at a time, so that a page about every queue holds only one number of each in memory.
//
// The package takes and sends no mail, and has no states. The deadlines of any request apply. A restart loses nothing.
package exposition
