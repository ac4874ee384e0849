// Command compare plays scripted AMQP 0-9-1 method sequences, valid and invalid, against two brokers and compares what they answer.
//
//	go run ./integration/compare --a amqp://127.0.0.1:5672 --b amqp://127.0.0.1:5673
//
// It is a tool for those who work on the broker, no test of it and nothing that is installed with it, hence here and not in cmd; its own
// test only has it compare a broker of ours with another.
//
// What it owns: a tiny client on raw sockets that never looks away (every frame of the server is kept), the scripts (one file per
// area, area_*.go, in the language of dsl.go) and the table of the differences that have a reason (explained.go), from which --doc
// writes docs/compatibility.md. It imports the codec only, so that any two brokers can be compared.
//
//	script ─▶ player on a ─▶ transcript ─┐
//	      └─▶ player on b ─▶ transcript ─┴─▶ differences ─▶ explained? ─▶ report, exit code 1 if one is not
//
// A transcript has lanes: one per channel, in the order of its frames, with the client's own methods between them; publisher confirms
// have a lane of their own, because their order against deliveries means nothing. What a server invents (names, tags, times) and the
// order of table fields are made equal before anything is compared. A script that differs is played again with more patience, so
// that a slow machine is not taken for a different broker.
//
// Scripts write ~ for a token that is new for every play: "~q" is a queue that nobody else uses. What a script declared is deleted
// when it ends. The brokers must let guest log in and start without objects of these scripts. "task compatibility" starts RabbitMQ and
// ours so and compares them.
package main
