package protocol

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Reply codes of AMQP 0-9-1 [AMQP 1.2]. ERR-2 defines which of them close the channel and which the connection.
const (
	ReplySuccess       uint16 = 200 // a close without fault
	ContentTooLarge    uint16 = 311 // channel
	NoRoute            uint16 = 312 // basic.return of a mandatory message without a queue
	NoConsumers        uint16 = 313 // basic.return of an immediate message; RabbitMQ refuses such messages
	ConnectionForced   uint16 = 320 // connection: the operator closed it
	InvalidPath        uint16 = 402 // connection: no such virtual host
	AccessRefused      uint16 = 403 // channel; connection when logging in
	NotFound           uint16 = 404 // channel
	ResourceLocked     uint16 = 405 // channel
	PreconditionFailed uint16 = 406 // channel
	FrameErr           uint16 = 501 // connection: bytes that cannot be decoded
	SyntaxError        uint16 = 502 // connection
	CommandInvalid     uint16 = 503 // connection
	ChannelErr         uint16 = 504 // connection: the channel is in the wrong state for this method
	UnexpectedFrame    uint16 = 505 // connection
	ResourceError      uint16 = 506 // connection
	NotAllowed         uint16 = 530 // connection
	NotImplemented     uint16 = 540 // connection
	InternalError      uint16 = 541 // connection
)

// maxReplyText is the longest reply text in bytes: it travels as a short string (ERR-1).
const maxReplyText = 255

// ChannelError closes one channel with channel.close (ERR-2). Class and Method name the method that failed, 0 and 0 when unknown.
type ChannelError struct {
	Code          uint16
	Text          string // "<CODE_NAME> - <explanation>", at most 255 bytes (ERR-1)
	Class, Method uint16
}

// ConnectionError closes the whole connection with connection.close (ERR-2). Class and Method name the method that failed, 0 and 0
// when unknown.
type ConnectionError struct {
	Code          uint16
	Text          string // "<CODE_NAME> - <explanation>", at most 255 bytes (ERR-1)
	Class, Method uint16
}

// ChannelErrorf returns a ChannelError. The explanation is prefixed with the code's name and cut according to ERR-1:
// ChannelErrorf(404, "no queue '%s' in vhost '%s'", q, v) reads "NOT_FOUND - no queue 'q' in vhost '/'".
func ChannelErrorf(code uint16, format string, args ...any) *ChannelError {
	return &ChannelError{Code: code, Text: replyText(code, format, args)}
}

// ConnectionErrorf makes a ConnectionError, with the text made as in [ChannelErrorf].
func ConnectionErrorf(code uint16, format string, args ...any) *ConnectionError {
	return &ConnectionError{Code: code, Text: replyText(code, format, args)}
}

// For returns a copy that blames m (ERR-1).
func (e *ChannelError) For(m Method) *ChannelError {
	return &ChannelError{Code: e.Code, Text: e.Text, Class: m.Key().Class(), Method: m.Key().Method()}
}

// For returns a copy that blames m (ERR-1).
func (e *ConnectionError) For(m Method) *ConnectionError {
	return &ConnectionError{Code: e.Code, Text: e.Text, Class: m.Key().Class(), Method: m.Key().Method()}
}

// Error returns code and text for logs.
func (e *ChannelError) Error() string { return fmt.Sprintf("channel error %d: %s", e.Code, e.Text) }

// Error returns code and text for logs.
func (e *ConnectionError) Error() string {
	return fmt.Sprintf("connection error %d: %s", e.Code, e.Text)
}

// codeNames are the names that RabbitMQ puts in front of its reply texts.
var codeNames = map[uint16]string{
	ReplySuccess: "REPLY_SUCCESS", ContentTooLarge: "CONTENT_TOO_LARGE", NoRoute: "NO_ROUTE", NoConsumers: "NO_CONSUMERS",
	ConnectionForced: "CONNECTION_FORCED", InvalidPath: "INVALID_PATH", AccessRefused: "ACCESS_REFUSED", NotFound: "NOT_FOUND",
	ResourceLocked: "RESOURCE_LOCKED", PreconditionFailed: "PRECONDITION_FAILED", FrameErr: "FRAME_ERROR",
	SyntaxError: "SYNTAX_ERROR", CommandInvalid: "COMMAND_INVALID", ChannelErr: "CHANNEL_ERROR",
	UnexpectedFrame: "UNEXPECTED_FRAME", ResourceError: "RESOURCE_ERROR", NotAllowed: "NOT_ALLOWED",
	NotImplemented: "NOT_IMPLEMENTED", InternalError: "INTERNAL_ERROR",
}

// CodeName returns the name of a reply code, "NOT_FOUND" for 404; "INTERNAL_ERROR" for a code that does not exist.
func CodeName(code uint16) string {
	if name, ok := codeNames[code]; ok {
		return name
	}
	return codeNames[InternalError]
}

// replyText joins name and explanation and cuts them to 255 bytes, never inside a character; a cut text ends in "..."
// (ERR-1). Invalid UTF-8 from a client is replaced: clients refuse a reply text, a short string, that contains it.
func replyText(code uint16, format string, args []any) string {
	text := strings.ToValidUTF8(CodeName(code)+" - "+fmt.Sprintf(format, args...), "\uFFFD")
	if len(text) <= maxReplyText {
		return text
	}
	return cutString(text, maxReplyText-3) + "..."
}

// cutString returns the longest prefix of s of at most max bytes that does not end inside a character.
func cutString(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for i := max; i > max-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:max]
}

// term writes bytes as RabbitMQ's reply texts show them: <<"text">> when quoted and printable, else <<1,2,3>>. Of very long input only
// as much is written as a reply text can hold.
func term(b []byte, quoted bool) string {
	if quoted && len(b) > 0 && printable(b) {
		return `<<"` + string(b) + `">>`
	}
	var s strings.Builder
	s.WriteString("<<")
	for i, c := range b[:min(len(b), maxReplyText)] {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, "%d", c)
	}
	s.WriteString(">>")
	return s.String()
}

// printable reports whether b is plain text that needs no escapes.
func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
