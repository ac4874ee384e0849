// Package document reads definitions as RabbitMQ and this broker export them, and judges each of their items: its
// verdict, and the reason (DEF-6). It does not import them.
//
// A Document is JSON with sections, lists of objects. Judge goes through them in the order of an import and compares
// them with the objects of the broker (Present), so that its report shows the effects of an import. The values of a
// Plan are ready to be imported.
//
// Owns: the verdicts, and the table of RabbitMQ's settings without effect here (policies.go, topology.go).
//
// Holds: at most MaxItems items of a document.
package document
