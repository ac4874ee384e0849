package mail

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/integration/testkit/address"
)

// A command that its queue has not seen is returned once to the actor that can send it again; the outcome of a command that the
// queue had begun is unknown (ADR 32).
func TestUnseenCommandsGoBack(t *testing.T) {
	channel, vhost := address.Named("channel"), address.Named("vhost")
	asked := Request{ReplyTo: channel, ID: 7}
	for f, want := range map[Cause]string{Gone: "again", Unseen: "again", Failed: "failed", Down: "failed", Unstored: "failed"} {
		for _, m := range []Answerable{
			&Consume{Request: asked, Queue: "q"}, &Get{Request: asked, Queue: "q"}, &Purge{Request: asked, Queue: "q"},
		} {
			to, reply := m.Answer(f)
			err := reply.(interface{ Failure() error }).Failure()
			got := "failed"
			if missed := (*Missed)(nil); errors.As(err, &missed) && missed.Queue == "q" {
				got = "again"
			}
			if to != channel || err == nil || got != want {
				t.Errorf("%T, cause %d: %v to %v", m, f, err, to)
			}
		}
		for _, m := range []Answerable{&DeclareQueue{Request: asked, Name: "q", Via: vhost}, &DeleteQueue{Request: asked, Name: "q", Via: vhost}} {
			to, reply := m.Answer(f)
			if (to == vhost) != (want == "again") || (to == channel) != (want == "failed") {
				t.Errorf("%T, cause %d: to %v", m, f, to)
			}
			if want != "again" {
				continue
			}
			if back := fmt.Sprintf("%T", reply); back != fmt.Sprintf("%T", m) {
				t.Errorf("%s comes back", back)
			}
			if to, _ = reply.(Answerable).Answer(f); to != channel {
				t.Errorf("%T comes back twice", m)
			}
		}
	}
}
