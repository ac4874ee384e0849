// Package protocol encodes and decodes AMQP 0-9-1. It is independent of the broker and imports no other package of the
// project.
//
// It owns frames ([ParseFrame], [AppendMethodFrame]), every method of every class that RabbitMQ speaks
// ([DecodeMethod], one file per class, three for basic, encode beside decode), field tables ([Table]), content
// headers ([ScanProperties], [Properties]) and the errors that close a channel or a connection ([ChannelError],
// [ConnectionError]).
//
//	bytes ── ParseFrame ──▶ Frame ──┬─ method ─▶ DecodeMethod, or without allocation DecodePublish, DecodeAck
//	                                ├─ header ─▶ ParseContentHeader ─▶ ScanProperties (views), DecodeProperties (copies)
//	                                └─ body   ─▶ Payload
//
// Three habits hold everywhere:
//
//   - Parsing never panics and checks every length and the nesting depth before it allocates, so that memory stays in
//     proportion to the input. Malformed input is a *ConnectionError with code 501, as RabbitMQ answers arguments that
//     do not fit; where RabbitMQ drops the connection silently (unknown methods, broken tables), the reason is sent
//     first.
//   - Views alias the payload and live as long as it does: Frame.Payload, PublishView, ContentHeader.Properties, Scan.
//     Everything else is copied.
//   - Encoding appends to the caller's buffer. It cannot fail for values that were decoded: short strings beyond 255 bytes are cut,
//     and a table that holds a Go value with no wire type is the caller's mistake and panics (AppendTable returns the error instead).
package protocol
