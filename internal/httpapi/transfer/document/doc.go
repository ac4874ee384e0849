// Package document reads definitions as RabbitMQ and this broker export them, and judges each of their items: its
// verdict, and the reason (DEF-6). It does nothing with them.
//
// A Document is JSON with sections, lists of objects. Judge goes through them in the order of an import and knows
// what the broker has already (Present), so that its report tells what an import would do. The values of a Plan are
// ready to be put into a broker.
//
// Owns: the verdicts, and the table of RabbitMQ's settings without effect here (policies.go, topology.go).
//
// Holds: at most MaxItems items of a document.
package document
