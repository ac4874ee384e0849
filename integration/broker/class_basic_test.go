package broker

import (
	"testing"

	"candlemark/integration/testkit"
	"candlemark/protocol"
)

// to returns a message for a queue.
func to(queue string) whole {
	return whole{BasicPublish: protocol.BasicPublish{RoutingKey: queue}, body: "m"}
}

// carrying returns a message with properties for the queue q.
func carrying(p protocol.Properties) whole {
	return whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q"}, Properties: p, body: "m"}
}

func expiring(text string) whole {
	return carrying(protocol.Properties{Expiration: text, Flags: protocol.FlagExpiration})
}

func headed(key string, value any) whole {
	return carrying(protocol.Properties{Headers: protocol.Table{arg(key, value)}, Flags: protocol.FlagHeaders})
}

func TestClassBasic(t *testing.T) {
	q := declare("q")
	get, consume := &protocol.BasicGet{Queue: "q"}, &protocol.BasicConsume{Queue: "q", ConsumerTag: "t"}
	expiration := func(text, why string) row {
		return row{"TTL-6 " + text, []any{q, expiring(text)}, "channel 406 60/40 PRECONDITION_FAILED - invalid expiration '" + text + "': " + why}
	}
	x := func(m *protocol.BasicPublish) whole { m.Exchange = "x"; return whole{BasicPublish: *m} }
	internal := &protocol.ExchangeDeclare{Exchange: "x", Type: "fanout", Internal: true}
	play(t, []row{
		{"publish", []any{q, to("q")}, ""},
		{"publish to nobody", []any{to("q")}, ""},
		{"mandatory", []any{whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q", Mandatory: true}}}, "basic.return 312 NO_ROUTE"},
		{"TTL-5 sign and zeros", []any{q, expiring("+007")}, ""},
		expiration("abc", "no_integer"),
		expiration("10x", `{leftover_string,"x"}`),
		expiration("-1", "{value_negative,-1}"),
		expiration("315360000001", "{value_too_large,315360000001}"),
		expiration("", "no_integer"),
		{"TTL-7 immediate first", []any{x(&protocol.BasicPublish{Immediate: true})}, "connection 540 60/40 NOT_IMPLEMENTED - immediate=true"},
		{"TTL-7 exchange before expiration", []any{whole{protocol.BasicPublish{Exchange: "x"}, expiring("abc").Properties, ""}}, "channel 404 60/40 " + noExchange},
		{"DEC-14 missing", []any{x(&protocol.BasicPublish{})}, "channel 404 60/40 " + noExchange},
		{"DEC-14 internal", []any{internal, x(&protocol.BasicPublish{})}, "channel 403 60/40 ACCESS_REFUSED - cannot publish to internal exchange 'x' in vhost '/'"},
		{"DL-16 CC", []any{q, headed("CC", "r")}, `channel 406 60/40 PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",longstr}`},
		{"DL-16 BCC", []any{q, headed("BCC", int32(1))}, `channel 406 60/40 PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"BCC",signedint}`},
		{"user-id", []any{carrying(protocol.Properties{UserID: "other", Flags: protocol.FlagUserID})}, "channel 406 60/40 PRECONDITION_FAILED - user_id property set to 'other' but authenticated user was 'guest'"},
		{"own user-id", []any{carrying(protocol.Properties{UserID: "guest", Flags: protocol.FlagUserID})}, ""},
		{"reply-to without a consumer", []any{carrying(protocol.Properties{ReplyTo: "amq.rabbitmq.reply-to", Flags: protocol.FlagReplyTo})}, "channel 406 60/40 PRECONDITION_FAILED - fast reply consumer does not exist"},

		{"get", []any{q, to("q"), get}, "basic.get-ok"},
		{"get nothing", []any{q, get}, "basic.get-empty"},
		{"DEC-6 get", []any{get}, "channel 404 60/70 " + noQueue},
		{"DEC-9 get", []any{&protocol.BasicGet{}}, "channel 404 60/70 " + noneNamed},
		{"consume", []any{q, consume}, "basic.consume-ok"},
		{"consume nowait", []any{q, &protocol.BasicConsume{Queue: "q", NoWait: true}}, ""},
		{"consume and get one", []any{q, to("q"), consume}, "basic.consume-ok, basic.deliver"},
		{"DEC-6 consume", []any{consume}, "channel 404 60/20 " + noQueue},
		{"DEC-9 consume", []any{&protocol.BasicConsume{}}, "channel 404 60/20 " + noneNamed},
		{"DEC-15 tag", []any{q, consume, consume}, "connection 530 60/20 NOT_ALLOWED - attempt to reuse consumer tag 't'"},
		{"DEC-15 exclusive", []any{q, consume, &protocol.BasicConsume{Queue: "q", Exclusive: true}}, "channel 403 60/20 ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"},
		{"DEC-15 behind an exclusive one", []any{q, &protocol.BasicConsume{Queue: "q", Exclusive: true}, consume}, "channel 403 60/20 ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"},
		{"DEC-15 priority", []any{q, &protocol.BasicConsume{Queue: "q", Arguments: protocol.Table{arg("x-priority", "5")}}}, `channel 406 60/20 PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/': "expected integer, got longstr"`},
		{"reply consumer with acks", []any{&protocol.BasicConsume{Queue: "amq.rabbitmq.reply-to"}}, "channel 406 60/20 PRECONDITION_FAILED - reply consumer cannot acknowledge"},
		{"reply consumer twice", []any{&protocol.BasicConsume{Queue: "amq.rabbitmq.reply-to", NoAck: true}, &protocol.BasicConsume{Queue: "amq.rabbitmq.reply-to", NoAck: true}}, "channel 406 60/20 PRECONDITION_FAILED - reply consumer already set"},
		{"cancel", []any{q, consume, &protocol.BasicCancel{ConsumerTag: "t"}}, "basic.cancel-ok"},
		{"cancel nobody", []any{&protocol.BasicCancel{ConsumerTag: "t"}}, "basic.cancel-ok"},
		{"cancel nowait", []any{q, consume, &protocol.BasicCancel{ConsumerTag: "t", NoWait: true}}, ""},
		{"LEASE-9 cancelled by the queue's end", []any{q, consume, &protocol.QueueDelete{Queue: "q"}}, "queue.delete-ok, basic.cancel"},

		{"qos", []any{&protocol.BasicQos{PrefetchCount: 1}}, "basic.qos-ok"},
		{"qos global", []any{&protocol.BasicQos{PrefetchCount: 1, Global: true}}, "basic.qos-ok"},
		{"ERR-2 qos by size", []any{&protocol.BasicQos{PrefetchSize: 10}}, "connection 540 60/10 NOT_IMPLEMENTED - prefetch_size!=0 (10)"},
		{"ack", []any{q, to("q"), get, &protocol.BasicAck{DeliveryTag: 1}}, ""},
		{"ack all of nothing", []any{&protocol.BasicAck{Multiple: true}}, ""},
		{"DEC-15 ack", []any{&protocol.BasicAck{DeliveryTag: 5}}, "channel 406 60/80 PRECONDITION_FAILED - unknown delivery tag 5"},
		{"DEC-15 ack twice", []any{q, to("q"), get, &protocol.BasicAck{DeliveryTag: 1}, &protocol.BasicAck{DeliveryTag: 1}}, "channel 406 60/80 PRECONDITION_FAILED - unknown delivery tag 1"},
		{"DEC-15 ack of one that needs none", []any{q, to("q"), &protocol.BasicGet{Queue: "q", NoAck: true}, &protocol.BasicAck{DeliveryTag: 1}}, "channel 406 60/80 PRECONDITION_FAILED - unknown delivery tag 1"},
		{"DEC-15 reject", []any{&protocol.BasicReject{DeliveryTag: 5}}, "channel 406 60/90 PRECONDITION_FAILED - unknown delivery tag 5"},
		{"DEC-15 nack", []any{&protocol.BasicNack{DeliveryTag: 5, Multiple: true}}, "channel 406 60/120 PRECONDITION_FAILED - unknown delivery tag 5"},
		{"requeue", []any{q, to("q"), get, &protocol.BasicNack{DeliveryTag: 1, Requeue: true}, get}, "basic.get-ok"},
		{"recover", []any{q, to("q"), get, &protocol.BasicRecover{Requeue: true}}, "basic.recover-ok"},
		{"recover async", []any{q, to("q"), get, &protocol.BasicRecoverAsync{Requeue: true}}, ""},
		{"DEC-15 recover", []any{&protocol.BasicRecover{}}, "connection 540 60/110 NOT_IMPLEMENTED - requeue=false"},
		{"DEC-15 recover async", []any{&protocol.BasicRecoverAsync{}}, "connection 540 60/100 NOT_IMPLEMENTED - requeue=false"},
	})
}

func TestClassConfirm(t *testing.T) {
	selected := &protocol.ConfirmSelect{}
	full := declare("q", arg("x-max-length", int32(0)), arg("x-overflow", "reject-publish"))
	play(t, []row{
		{"select", []any{selected}, "confirm.select-ok"},
		{"select again", []any{selected, selected}, "confirm.select-ok"},
		{"select nowait", []any{&protocol.ConfirmSelect{NoWait: true}}, ""},
		{"ack", []any{selected, declare("q"), to("q")}, "basic.ack 1"},
		{"ack what nobody gets", []any{selected, to("q")}, "basic.ack 1"},
		{"return before the ack", []any{selected, whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q", Mandatory: true}}}, "basic.return 312 NO_ROUTE, basic.ack 1"},
		{"DL-10 refused", []any{selected, full, to("q")}, "basic.nack 1"},
		{"DL-11 one of two refuses", []any{selected, full, declare("r"), headed("CC", protocol.Array{"r"})}, "basic.nack 1"},
		{"ERR-2 after tx", []any{&protocol.TxSelect{}, selected}, "channel 406 85/10 PRECONDITION_FAILED - cannot switch from tx to confirm mode"},
		{"ERR-2 after tx, nowait", []any{&protocol.TxSelect{}, &protocol.ConfirmSelect{NoWait: true}}, "channel 406 85/10 PRECONDITION_FAILED - cannot switch from tx to confirm mode"},
	})
}

func TestClassTx(t *testing.T) {
	selected, commit, rollback := &protocol.TxSelect{}, &protocol.TxCommit{}, &protocol.TxRollback{}
	get := &protocol.BasicGet{Queue: "q"}
	const none = "PRECONDITION_FAILED - channel is not transactional"
	full := declare("q", arg("x-max-length", int32(0)), arg("x-overflow", "reject-publish"))
	play(t, []row{
		{"select", []any{selected}, "tx.select-ok"},
		{"select again", []any{selected, selected}, "tx.select-ok"},
		{"commit", []any{selected, commit}, "tx.commit-ok"},
		{"rollback", []any{selected, rollback}, "tx.rollback-ok"},
		{"nothing before the commit", []any{selected, declare("q"), to("q"), get}, "basic.get-empty"},
		{"committed", []any{selected, declare("q"), to("q"), commit, get}, "basic.get-ok"},
		{"rolled back", []any{selected, declare("q"), to("q"), rollback, get}, "basic.get-empty"},
		{"returned at the commit", []any{selected, whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q", Mandatory: true}}, commit}, "basic.return 312 NO_ROUTE, tx.commit-ok"},
		{"acks are held back", []any{declare("q"), to("q"), selected, get, &protocol.BasicAck{DeliveryTag: 1}, rollback, &protocol.BasicAck{DeliveryTag: 1}}, ""},
		{"ERR-2 commit", []any{commit}, "channel 406 90/20 " + none},
		{"ERR-2 rollback", []any{rollback}, "channel 406 90/30 " + none},
		{"ERR-2 after confirm", []any{&protocol.ConfirmSelect{}, selected}, "channel 406 90/10 PRECONDITION_FAILED - cannot switch from confirm to tx mode"},
		{"ERR-2 partial", []any{selected, full, to("q"), commit}, "channel 406 90/20 PRECONDITION_FAILED - partial tx completion"},
		{"DEC-14 publish", []any{selected, whole{BasicPublish: protocol.BasicPublish{Exchange: "x"}}}, "channel 404 60/40 " + noExchange},
		{"DEC-15 ack", []any{selected, &protocol.BasicAck{DeliveryTag: 3}}, "channel 406 60/80 PRECONDITION_FAILED - unknown delivery tag 3"},
	})
}

func TestClassAccess(t *testing.T) {
	play(t, []row{
		{"request", []any{&protocol.AccessRequest{Realm: "/data", Active: true, Write: true}}, "access.request-ok"},
		{"ERR-2 the server's", []any{&protocol.AccessRequestOk{}}, "connection 503 30/11 COMMAND_INVALID - unimplemented method"},
	})
}

// DEC-5: all operations of another connection on an exclusive queue are refused.
func TestClassQueue_Locked_DEC5(t *testing.T) {
	const locked = " RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration."
	for want, m := range map[string]protocol.Method{
		"channel 405 50/10": passive("q"), "channel 405 50/20": &protocol.QueueBind{Queue: "q", Exchange: "amq.direct"},
		"channel 405 50/50": &protocol.QueueUnbind{Queue: "q", Exchange: "amq.direct"}, "channel 405 50/30": &protocol.QueuePurge{Queue: "q"},
		"channel 405 50/40": &protocol.QueueDelete{Queue: "q"}, "channel 405 60/70": &protocol.BasicGet{Queue: "q"},
		"channel 405 60/20": &protocol.BasicConsume{Queue: "q"},
	} {
		t.Run(m.Key().String(), func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				owner, other := openWire(b), openWire(b)
				defer owner.conn.Close()
				defer other.conn.Close()
				owner.say(exclusively("q"), &protocol.QueueBind{Queue: "q", Exchange: "amq.direct"})
				other.say(m)
				if heard := other.take(); heard != want+locked {
					t.Errorf("\n got %s\nwant %s", heard, want+locked)
				}
			})
		})
	}
}
