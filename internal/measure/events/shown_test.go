package events

import (
	"fmt"
	"testing"

	"candlemark/protocol"
)

// Neither fields nor tables in them have secrets; the tables of an object are not altered.
func TestFieldsHaveNoSecrets_ACC11(t *testing.T) {
	inner := protocol.Table{{Key: "password", Value: "s"}, {Key: "n", Value: int32(1)}}
	fields := protocol.Table{
		{Key: "name", Value: "q"},
		{Key: "arguments", Value: inner},
		{Key: "token", Value: int64(5)},
		{Key: "secret", Value: inner},
		{Key: "flag_password", Value: true},
		{Key: "list", Value: protocol.Array{"amqp://u:p@h", int8(1)}},
		{Key: "sas", Value: []byte("x")},
		{Key: "binary", Value: []byte("x")},
		{Key: "none", Value: nil},
	}
	h := NewHub(Config{Now: func() int64 { return 0 }})
	l := h.Listen(2, nil, nil)
	defer l.Close()
	h.Publish(Routine, func() *Event { return &Event{Name: "n", Fields: fields} })
	want := "[{name q} {arguments [{password ***} {n 1}]} {token ***} {secret ***} {flag_password true} {list [amqp://***@h 1]} {sas ***} {binary [120]} {none <nil>}]"
	if got := fmt.Sprint((<-l.C).Fields); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if inner[0].Value != "s" || len(fields[1].Value.(protocol.Table)) != 2 {
		t.Error("altered")
	}
	plain := protocol.Table{{Key: "arguments", Value: protocol.Table{{Key: "a", Value: "b"}}}, {Key: "list", Value: protocol.Array{"x"}}}
	if got := shownTable(plain); &got[0] != &plain[0] {
		t.Error("copied")
	}
}
