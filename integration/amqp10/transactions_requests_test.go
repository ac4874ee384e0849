package amqp10

import (
	"testing"

	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"
)

// TestRequests_TXN5: a request to a node within a transaction is refused, and the transaction is rolled back.
func TestRequests_TXN5(t *testing.T) {
	for _, node := range []string{"q/$management", "$cbs", "/management"} {
		t.Run(node, func(t *testing.T) {
			transacting(t, func(_ *testkit.Bubble, c *client, x *transactor) {
				s := sending(5, "")
				s.Name, s.Target.Address = "requests", amqp10.Some(node)
				x.send(2, s)
				x.want(amqp10.CodeAttach)
				txn := x.declare()
				x.put(txn, "a")
				x.postTo(5, 2, txn, amqp10.AppendDataHead(nil, 0))
				d := x.want(amqp10.CodeDisposition).(*amqp10.Disposition)
				if e := d.State.Error; d.State.Kind != amqp10.Rejected || e.Condition != amqp10.NotImplemented ||
					e.Description != "requests are not supported in transactions: send them without one" {
					t.Errorf("%+v", d.State)
				}
				if s := x.discharge(txn, false); s != "amqp:transaction:rollback" {
					t.Error(s)
				}
				_ = x.Close()
				c.want(c.receiver("/queues/held", nil), "1", "2")
				c.put(c.sender("/queues/q", nil), "next")
				c.want(c.receiver("/queues/q", nil), "next")
			})
		})
	}
}
