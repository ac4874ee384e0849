package lifecycle

import (
	"testing"

	"candlemark/protocol"
)

// TestProperties_PRO21: client properties are kept as they were sent, in memory as large as on the wire, and read from there.
func TestProperties_PRO21(t *testing.T) {
	voids := make(protocol.Array, 4000)
	table := protocol.Table{{Key: "product", Value: "p"}, {Key: "n", Value: int64(7)}, {Key: "voids", Value: voids}}
	var p Peer
	if p.Properties() != nil || p.Text("product") != "" {
		t.Error("there are properties")
	}
	if err := p.SetProperties(table); err != nil {
		t.Fatal(err)
	}
	if got := p.Properties(); !got.Equal(table) || p.Text("product") != "p" || p.Text("n") != "" || p.Text("m") != "" {
		t.Errorf("%v", got)
	}
	if n := cap(p.properties); n > 5000 || table.Memory() < 60_000 {
		t.Errorf("%d bytes are kept, and would take %d", n, table.Memory())
	}
}
