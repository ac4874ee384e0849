package connection10

import (
	"strings"
	"testing"

	"candlemark/actors/client/lifecycle"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Client properties that fit a field table are shown, others are left out.
func TestTableOf(t *testing.T) {
	table := tableOf(&amqp10.Open{ContainerID: "c", Properties: amqp10.Map{
		{Key: amqp10.Symbol("product"), Value: "p"},
		{Key: amqp10.Symbol("n"), Value: uint32(7)},
		{Key: "not a symbol", Value: "x"},
		{Key: amqp10.Symbol("list"), Value: amqp10.List{1}},
		{Key: amqp10.Symbol(strings.Repeat("x", 256)), Value: "x"},
	}})
	p := &lifecycle.Peer{}
	if p.SetProperties(table) != nil || len(table) != 3 || p.Text("product") != "p" || p.Text("connection_name") != "c" || p.Text("n") != "" {
		t.Errorf("%v", table)
	}
}
