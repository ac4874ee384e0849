// Package amqp10 encodes and decodes AMQP 1.0, for the server's side. It is independent of the broker and imports no
// other package of the project.
//
// It owns frames ([ParseFrame], [AppendFrame], [AppendTransfer]), the performatives, SASL frames and their fields
// ([Frame.Decode], [DecodeInto]), the sections of a message ([ScanSections]) and the types ([Value], [Append]).
//
//	bytes ── ParseFrame ──▶ Frame ── Code ──┬─ transfer, disposition, flow ─▶ DecodeInto, without allocation
//	                                        └─ others ─▶ Decode
//	payload of transfers ── ScanSections ──▶ Sections ──┬─ Header, Properties
//	                                                    └─ annotations, application properties, body: Value ─▶ Lookup, Decode
//
// Each composite has one list of its fields (its method fields), which both reads and writes it.
//
// Three habits hold everywhere:
//
//   - Parsing never panics and checks every length, count and the nesting depth before it allocates, so that memory stays in proportion
//     to the input. Malformed input is an *Error with the condition to send to the peer.
//   - []byte, Text, SymbolText and Value alias the parsed bytes and are valid as long as they are. Everything else is
//     copied.
//   - Encoding appends to the caller's buffer, in the smallest encoding. It cannot fail for values that were decoded: text is repaired, and
//     a Go value that has no type is the caller's mistake and panics (Append returns the error instead).
package amqp10
