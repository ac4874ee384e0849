// Command candlemark is the broker and its command line.
//
//	candlemark serve                    runs a broker
//	candlemark demo                     shows one at work
//	candlemark set_policy …, and so on  asks a running broker, as rabbitmqctl does
//
// The verbs of rabbitmqctl keep their syntax, output and exit codes (POL-16 to
// POL-18), also under the name rabbitmqctl. They speak HTTP: --url or
// CANDLEMARK_HTTP_URL says where.
package main
