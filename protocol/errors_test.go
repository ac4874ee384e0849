package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReplyTextERR1(t *testing.T) {
	tests := []struct{ name, explanation, want string }{
		{"short", "no queue 'q' in vhost '/'", "NOT_FOUND - no queue 'q' in vhost '/'"},
		{"255 bytes", strings.Repeat("a", 243), "NOT_FOUND - " + strings.Repeat("a", 243)},
		{"256 bytes", strings.Repeat("a", 244), "NOT_FOUND - " + strings.Repeat("a", 240) + "..."},
		{"never inside a character", strings.Repeat("a", 239) + "éé" + "aa", "NOT_FOUND - " + strings.Repeat("a", 239) + "..."},
		{"not even text", strings.Repeat("\x80", 300), "NOT_FOUND - \uFFFD"},
		{"hardly text", "a\xffb", "NOT_FOUND - a\uFFFDb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{ChannelErrorf(NotFound, "%s", tt.explanation).Text, ConnectionErrorf(NotFound, "%s", tt.explanation).Text} {
				if text != tt.want {
					t.Errorf("got %d bytes %q, want %q", len(text), text, tt.want)
				}
				if len(text) > 255 {
					t.Errorf("%d bytes", len(text))
				}
			}
		})
	}
	if text := ChannelErrorf(NotFound, "%s", strings.Repeat("😀", 100)).Text; !utf8.ValidString(text) || len(text) > 255 {
		t.Errorf("got %d bytes %q", len(text), text)
	}
}

func TestCodeNamesERR2(t *testing.T) {
	want := map[uint16]string{
		200: "REPLY_SUCCESS", 311: "CONTENT_TOO_LARGE", 312: "NO_ROUTE", 313: "NO_CONSUMERS", 320: "CONNECTION_FORCED",
		402: "INVALID_PATH", 403: "ACCESS_REFUSED", 404: "NOT_FOUND", 405: "RESOURCE_LOCKED", 406: "PRECONDITION_FAILED",
		501: "FRAME_ERROR", 502: "SYNTAX_ERROR", 503: "COMMAND_INVALID", 504: "CHANNEL_ERROR", 505: "UNEXPECTED_FRAME",
		506: "RESOURCE_ERROR", 530: "NOT_ALLOWED", 540: "NOT_IMPLEMENTED", 541: "INTERNAL_ERROR", 999: "INTERNAL_ERROR",
	}
	for code, name := range want {
		if got := CodeName(code); got != name {
			t.Errorf("%d: got %s, want %s", code, got, name)
		}
	}
}

func TestErrorsBlameAMethodERR1(t *testing.T) {
	c := ChannelErrorf(PreconditionFailed, "unknown delivery tag %d", 5)
	if got := *c.For(&BasicAck{}); got != (ChannelError{406, "PRECONDITION_FAILED - unknown delivery tag 5", 60, 80}) {
		t.Errorf("got %+v", got)
	}
	if c.Class != 0 || c.Method != 0 {
		t.Errorf("For altered its receiver: %+v", c)
	}
	n := ConnectionErrorf(NotImplemented, "immediate=true").For(&BasicPublish{})
	if *n != (ConnectionError{540, "NOT_IMPLEMENTED - immediate=true", 60, 40}) {
		t.Errorf("got %+v", n)
	}
	if got := n.Error(); got != "connection error 540: NOT_IMPLEMENTED - immediate=true" {
		t.Error(got)
	}
	if got := c.Error(); got != "channel error 406: PRECONDITION_FAILED - unknown delivery tag 5" {
		t.Error(got)
	}
}
