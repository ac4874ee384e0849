package channel

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/protocol"
)

// Each command is tested with its answer and with no-wait.
func TestCommands_AnswerAndNoWait(t *testing.T) {
	for _, c := range []struct {
		wait, noWait protocol.Method
		sent         string
		received     string
	}{
		{
			&protocol.QueueDeclare{Queue: "q"}, &protocol.QueueDeclare{Queue: "q", NoWait: true},
			"vhost: declarequeue", "queue.declare-ok {Queue:q MessageCount:5 ConsumerCount:2}",
		},
		{
			&protocol.QueueDelete{Queue: "q"}, &protocol.QueueDelete{Queue: "q", NoWait: true},
			"vhost: deletequeue", "queue.delete-ok {MessageCount:7}",
		},
		{
			&protocol.QueuePurge{Queue: "q1"}, &protocol.QueuePurge{Queue: "q1", NoWait: true},
			"q1: purge", "queue.purge-ok {MessageCount:8}",
		},
		{
			&protocol.QueueBind{Queue: "q1", Exchange: "x"}, &protocol.QueueBind{Queue: "q1", Exchange: "x", NoWait: true},
			"vhost: bind", "queue.bind-ok",
		},
		{&protocol.QueueUnbind{Queue: "q1", Exchange: "x"}, nil, "vhost: unbind", "queue.unbind-ok"},
		{
			&protocol.ExchangeDeclare{Exchange: "e", Type: "direct"}, &protocol.ExchangeDeclare{Exchange: "e", Type: "direct", NoWait: true},
			"vhost: declareexchange", "exchange.declare-ok",
		},
		{
			&protocol.ExchangeDelete{Exchange: "e"}, &protocol.ExchangeDelete{Exchange: "e", NoWait: true},
			"vhost: deleteexchange", "exchange.delete-ok",
		},
		{
			&protocol.ExchangeBind{Source: "x", Destination: "h"}, &protocol.ExchangeBind{Source: "x", Destination: "h", NoWait: true},
			"vhost: bind", "exchange.bind-ok",
		},
		{
			&protocol.ExchangeUnbind{Source: "x", Destination: "h"}, &protocol.ExchangeUnbind{Source: "x", Destination: "h", NoWait: true},
			"vhost: unbind", "exchange.unbind-ok",
		},
		{
			&protocol.BasicConsume{Queue: "q1", ConsumerTag: "t"}, &protocol.BasicConsume{Queue: "q1", ConsumerTag: "t", NoWait: true},
			"q1: consume", "basic.consume-ok {ConsumerTag:t}",
		},
		{&protocol.BasicGet{Queue: "q1"}, nil, "q1: get", "basic.get-empty"},
	} {
		r := newRig(t)
		r.command(c.wait)
		r.received() // not before the command is done
		r.sent(c.sent)
		r.succeed()
		r.received(c.received)
		r.sent()
		if c.noWait != nil {
			r := newRig(t)
			r.ask(c.noWait)
			r.sent(c.sent)
			r.received()
			r.balanced()
		}
		r.balanced()
	}
}

// Commands that the channel itself answers.
func TestCommands_AnsweredAtOnce(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.ConfirmSelect{}, &protocol.ConfirmSelect{NoWait: true}, &protocol.BasicQos{PrefetchCount: 3},
		&protocol.ChannelFlow{Active: true}, &protocol.AccessRequest{}, &protocol.BasicRecover{Requeue: true},
		&protocol.BasicRecoverAsync{Requeue: true}, &protocol.BasicCancel{ConsumerTag: "none"},
		&protocol.BasicCancel{ConsumerTag: "none", NoWait: true}, &protocol.BasicCancelOk{ConsumerTag: "none"})
	r.received("confirm.select-ok", "basic.qos-ok", "channel.flow-ok {Active:true}",
		"access.request-ok {Ticket:1}", "basic.recover-ok", "basic.cancel-ok {ConsumerTag:none}")
	r.sent()
}

func TestCommands_ConnectionErrors(t *testing.T) {
	for _, c := range []struct {
		method protocol.Method
		want   string
	}{
		{&protocol.ChannelOpen{}, "504 20/10 CHANNEL_ERROR - second 'channel.open' seen"},
		{&protocol.ChannelCloseOk{}, "503 20/41 COMMAND_INVALID - unimplemented method"},
		{&protocol.ChannelFlow{}, "540 20/20 NOT_IMPLEMENTED - active=false"},
		{&protocol.ChannelFlowOk{}, "503 20/21 COMMAND_INVALID - unimplemented method"},
		{&protocol.QueueDeclareOk{}, "503 50/11 COMMAND_INVALID - unimplemented method"},
		{&protocol.BasicQos{PrefetchSize: 9}, "540 60/10 NOT_IMPLEMENTED - prefetch_size!=0 (9)"},
		{&protocol.BasicRecover{}, "540 60/110 NOT_IMPLEMENTED - requeue=false"},
		{&protocol.BasicRecoverAsync{}, "540 60/100 NOT_IMPLEMENTED - requeue=false"},
	} {
		r := newRig(t)
		r.command(c.method, &protocol.BasicQos{}) // the second is ignored
		r.sent("connection: " + c.want)
		r.received()
		r.balanced()
	}
}

func refuse(kind auth.Kind, name string, perm auth.Permission) users.Refusal {
	return users.Refusal{User: "guest", Resource: auth.Resource{Kind: kind, Name: name}, Permission: perm}
}

// The test checks the permissions that each command needs, and the order of the checks.
func TestCommands_Permissions(t *testing.T) {
	dlx := protocol.Table{{Key: "x-dead-letter-exchange", Value: "dlx"}}
	forward := protocol.Table{{Key: "x-forward-to", Value: "to"}}
	dlq := protocol.Table{{Key: "x-dead-letter-queue", Value: true}}
	ae := protocol.Table{{Key: "alternate-exchange", Value: "ae"}}
	const q, x, c, w, rd = auth.Queue, auth.Exchange, auth.Configure, auth.Write, auth.Read
	for _, tc := range []struct {
		method  protocol.Method
		refused []users.Refusal
		want    string // "" if allowed
	}{
		{&protocol.QueueDeclare{Queue: "n"}, []users.Refusal{refuse(q, "n", c)}, "configure access to queue 'n'"},
		{&protocol.QueueDeclare{Queue: "n\r\n"}, []users.Refusal{refuse(q, "n", c)}, "configure access to queue 'n'"},
		{&protocol.QueueDeclare{Queue: "n", Arguments: dlx}, []users.Refusal{refuse(q, "n", rd), refuse(x, "dlx", w)}, "read access to queue 'n'"},
		{&protocol.QueueDeclare{Queue: "n", Arguments: dlx}, []users.Refusal{refuse(x, "dlx", w)}, "write access to exchange 'dlx'"},
		{&protocol.QueueDeclare{Queue: "q1", Arguments: dlx}, []users.Refusal{refuse(x, "dlx", w)}, "write access to exchange 'dlx'"}, // even if the queue exists in the snapshot (DL-3): the virtual host decides
		{&protocol.QueueDeclare{Queue: "n", Arguments: forward}, []users.Refusal{refuse(q, "n", rd)}, "read access to queue 'n'"},
		{&protocol.QueueDeclare{Queue: "n", Arguments: forward}, []users.Refusal{refuse(x, "to", w)}, "write access to exchange 'to'"},
		{&protocol.QueueDeclare{Queue: "q1", Arguments: forward}, []users.Refusal{refuse(x, "to", w)}, "write access to exchange 'to'"},
		{&protocol.QueueDeclare{Queue: "n", Arguments: dlq}, []users.Refusal{refuse(q, "n.dlq", c)}, "configure access to queue 'n.dlq'"},
		{&protocol.QueueDeclare{Queue: "q1", Arguments: dlq}, []users.Refusal{refuse(q, "q1.dlq", c)}, "configure access to queue 'q1.dlq'"},
		{&protocol.QueueDeclare{Queue: "n", Passive: true}, []users.Refusal{refuse(q, "n", c), refuse(q, "n", rd)}, ""},
		{
			&protocol.QueueDeclare{Queue: "n", Passive: true},
			[]users.Refusal{refuse(q, "n", c), refuse(q, "n", rd), refuse(q, "n", w)},
			"configure access to queue 'n'",
		},
		{&protocol.QueueDelete{Queue: "q1"}, []users.Refusal{refuse(q, "q1", c)}, "configure access to queue 'q1'"},
		{&protocol.QueuePurge{Queue: "q1"}, []users.Refusal{refuse(q, "q1", rd)}, "read access to queue 'q1'"},
		{&protocol.BasicGet{Queue: "q1"}, []users.Refusal{refuse(q, "q1", rd)}, "read access to queue 'q1'"},
		{&protocol.BasicConsume{Queue: "nope"}, []users.Refusal{refuse(q, "nope", rd)}, "read access to queue 'nope'"},
		{&protocol.QueueBind{Queue: "q1", Exchange: "x"}, []users.Refusal{refuse(q, "q1", w), refuse(x, "x", rd)}, "write access to queue 'q1'"},
		{&protocol.QueueUnbind{Queue: "q1", Exchange: "x"}, []users.Refusal{refuse(x, "x", rd)}, "read access to exchange 'x'"},
		{&protocol.QueueBind{Queue: "q1"}, []users.Refusal{refuse(x, "", rd)}, "read access to exchange 'amq.default'"},
		{&protocol.ExchangeBind{Source: "x", Destination: "h"}, []users.Refusal{refuse(x, "h", w), refuse(x, "x", rd)}, "write access to exchange 'h'"},
		{&protocol.ExchangeDeclare{Exchange: "n"}, []users.Refusal{refuse(x, "n", c)}, "configure access to exchange 'n'"},
		{&protocol.ExchangeDeclare{Exchange: "n", Arguments: ae}, []users.Refusal{refuse(x, "ae", w)}, "write access to exchange 'ae'"},
		{&protocol.ExchangeDeclare{Exchange: "x", Arguments: ae}, []users.Refusal{refuse(x, "ae", w)}, "write access to exchange 'ae'"},
		{&protocol.ExchangeDelete{Exchange: "x"}, []users.Refusal{refuse(x, "x", c)}, "configure access to exchange 'x'"},
	} {
		r := newRig(t)
		r.perms.Refused = tc.refused
		r.command(tc.method)
		if permission, asked := r.permission(); asked {
			r.received()
			want := "ACCESS_REFUSED - " + tc.want + " in vhost '/' refused for user 'guest'"
			var e *protocol.ChannelError
			if err := permission.Err(); (err != nil) != (tc.want != "") || errors.As(err, &e) && e.Text != want {
				t.Errorf("%+v %v: permission %v, want %s", tc.method, tc.refused, err, want)
			}
			continue
		}
		if tc.want == "" {
			r.received()
			continue
		}
		r.received(fmt.Sprintf("channel.close {ReplyCode:403 ReplyText:ACCESS_REFUSED - %s in vhost '/' refused for user 'guest' Class:%d Method:%d}",
			tc.want, tc.method.Key().Class(), tc.method.Key().Method()))
		r.sent()
		r.balanced()
	}
}

// permission returns the permission in the declare that was sent to the virtual host.
func (r *rig) permission() (l mail.Permission, asked bool) {
	if len(r.asked) == 0 {
		return l, false
	}
	switch m := r.asked[0].(type) {
	case *mail.DeclareQueue:
		return m.Permission, true
	case *mail.DeclareExchange:
		return m.Permission, true
	}
	return l, false
}

// The channel passes the topic permission on, since only the virtual host knows whether the source is a topic exchange.
func TestCommands_TopicPermissionToBind(t *testing.T) {
	for _, m := range []func(key string) protocol.Method{
		func(key string) protocol.Method {
			return &protocol.QueueBind{Queue: "q1", Exchange: "t", RoutingKey: key}
		},
		func(key string) protocol.Method {
			return &protocol.QueueUnbind{Queue: "q1", Exchange: "t", RoutingKey: key}
		},
		func(key string) protocol.Method {
			return &protocol.ExchangeBind{Destination: "h", Source: "t", RoutingKey: key}
		},
		func(key string) protocol.Method {
			return &protocol.ExchangeUnbind{Destination: "h", Source: "t", RoutingKey: key}
		},
	} {
		for key, want := range map[string]string{
			"a.b": "channel error 403: ACCESS_REFUSED - read access to topic 'a.b' in exchange 't' in vhost '/' refused for user 'guest'", "c": "<nil>",
		} {
			r := newRig(t)
			r.perms.Topics = map[string][]string{"t": {"a.b"}}
			r.command(m(key))
			var topic mail.Permission
			switch m := r.asked[0].(type) {
			case *mail.Bind:
				topic = m.Topic
			case *mail.Unbind:
				topic = m.Topic
			}
			if got := fmt.Sprint(topic.Err()); got != want {
				t.Errorf("%+v: %s", m(key), got)
			}
		}
	}
}

func TestDEC9_LastDeclaredQueue(t *testing.T) {
	for _, m := range []protocol.Method{
		&protocol.QueueBind{Exchange: "x"}, &protocol.QueueUnbind{Exchange: "x"}, &protocol.QueueDelete{}, &protocol.QueuePurge{},
		&protocol.BasicConsume{}, &protocol.BasicGet{},
	} {
		r := newRig(t)
		r.command(m)
		r.received(fmt.Sprintf("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no previously declared queue Class:%d Method:%d}", m.Key().Class(), m.Key().Method()))
	}
	r := newRig(t)
	r.ask(&protocol.QueueDeclare{Queue: "q1", NoWait: true})
	r.command(&protocol.QueueDeclare{Passive: true})
	if d := r.asked[0].(*mail.DeclareQueue); d.Name != "" { // a declare without a name keeps the empty name
		t.Errorf("declares %q", d.Name)
	}
	r.reply(protocol.ChannelErrorf(404, "no queue '' in vhost '/'"))
	r.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no queue '' in vhost '/' Class:50 Method:10}")

	r = newRig(t)
	r.ask(&protocol.QueueDeclare{Queue: "q2"})
	r.ask(&protocol.QueueDeclare{Queue: "q1", Passive: true})
	r.frames()
	r.sent("vhost: declarequeue", "vhost: declarequeue")
	r.ask(&protocol.QueuePurge{})
	r.ask(&protocol.BasicGet{})
	r.ask(&protocol.BasicConsume{})
	r.sent("q1: purge", "q1: get", "q1: consume")
	bind := func(key, want string) {
		r.command(&protocol.QueueBind{Exchange: "x", RoutingKey: key})
		if b := r.asked[0].(*mail.Bind).Binding; b.Destination != "q1" || b.RoutingKey != want {
			t.Errorf("binds %q with %q", b.Destination, b.RoutingKey)
		}
		r.succeed()
	}
	bind("", "q1")
	bind("k", "k")
	r.command(&protocol.QueueBind{Queue: "q2", Exchange: "x"})
	if b := r.asked[0].(*mail.Bind).Binding; b.Destination != "q2" || b.RoutingKey != "" {
		t.Errorf("binds %q with %q", b.Destination, b.RoutingKey)
	}
	r.succeed()
	// A queue that no longer exists can still be deleted (DEC-6), but not used.
	r.cfg.VHost.Publish(r.cfg.VHost.Directory().WithoutQueue("q1"))
	r.ask(&protocol.QueueDelete{})
	r.frames()
	r.command(&protocol.BasicGet{})
	r.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no queue 'q1' in vhost '/' Class:60 Method:70}")
	r.balanced()
}

func TestDEC9_ServerNamesAreChecked(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.QueueDeclare{})
	if d := r.asked[0].(*mail.DeclareQueue); d.Name != "" {
		t.Errorf("the vhost is to choose, not %q", d.Name)
	}
	r.succeed()
	r.received("queue.declare-ok {Queue:amq.gen-1 MessageCount:5 ConsumerCount:2}")
	if r.client.LastQueue != "amq.gen-1" {
		t.Error(r.client.LastQueue)
	}
}

func TestDEC8_NamesAreStripped(t *testing.T) {
	r := newRig(t)
	check := func(m protocol.Method, name func() []string, want ...string) {
		t.Helper()
		r.command(m)
		for i, got := range name() {
			if got != want[i] {
				t.Errorf("%s: %q, want %q", m.Key().String(), got, want[i])
			}
		}
		r.succeed()
	}
	check(&protocol.QueueDeclare{Queue: "a\r\nb"}, func() []string { return []string{r.asked[0].(*mail.DeclareQueue).Name} }, "ab")
	check(&protocol.QueueDelete{Queue: "\na"}, func() []string { return []string{r.asked[0].(*mail.DeleteQueue).Name} }, "a")
	check(&protocol.ExchangeDeclare{Exchange: "e\n"}, func() []string { return []string{r.asked[0].(*mail.DeclareExchange).Name} }, "e")
	check(&protocol.ExchangeDelete{Exchange: "e\n"}, func() []string { return []string{r.asked[0].(*mail.DeleteExchange).Name} }, "e")
	check(&protocol.ExchangeBind{Source: "a\r", Destination: "b\n", RoutingKey: "k\n"}, func() []string {
		b := r.asked[0].(*mail.Bind)
		return []string{b.Source, b.Binding.Destination, b.Binding.RoutingKey}
	}, "a", "b", "k\n")
}

// A waiting command delays only the input behind it; order is kept.
func TestParking_OrderOfCommands(t *testing.T) {
	r := newRig(t)
	r.feed(publish("", "q1", "a"), frame(&protocol.QueueDeclare{Queue: "q"}), publish("", "q1", "b"),
		frame(&protocol.BasicQos{}), frame(&protocol.QueuePurge{Queue: "q1", NoWait: true}), publish("", "q1", "c"))
	r.sent("q1: enqueue a", "vhost: declarequeue") // publishes collected before the command are sent first
	r.feed(publish("", "q1", "d"))
	r.sent()
	r.received()
	r.turn(&mail.TopologyReply{Reply: mail.Reply{ID: 77}}) // not the awaited reply
	r.sent()
	r.succeed()
	r.sent("q1: enqueue b", "q1: purge")
	r.received("queue.declare-ok {Queue:q MessageCount:5 ConsumerCount:2}", "basic.qos-ok")
	r.succeed()
	r.sent("q1: enqueue c", "q1: enqueue d")
	r.received()
	r.balanced()
}

// A read with several runs of one channel (frames of other channels lie between them), with commands that wait within and at the
// end of runs, and a content that spans two runs.
func TestParking_Runs(t *testing.T) {
	r := newRig(t)
	one := publish("", "q1", "one")
	purge := frame(&protocol.QueuePurge{Queue: "q1", NoWait: true})
	r.turn(r.inbound(append(publish("", "q1", "zero"), purge...), purge, one[:len(one)-11], one[len(one)-11:], purge))
	r.sent("q1: enqueue zero", "q1: purge")
	r.succeed()
	r.sent("q1: purge")
	r.succeed()
	r.sent("q1: enqueue one", "q1: purge")
	if r.in.Parked() != 0 {
		t.Error("nothing is left, and yet the read is kept")
	}
	r.balanced()
	r.feed(publish("", "q1", "two"))
	r.sent()
	r.succeed()
	r.sent("q1: enqueue two")
	r.balanced()
}

func TestParking_ErrorWhileFramesWait(t *testing.T) {
	for _, c := range []struct {
		err      error
		sent     string
		received string
	}{
		{
			err:      protocol.ChannelErrorf(406, "no"),
			received: "channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - no Class:50 Method:10}",
		},
		{err: protocol.ConnectionErrorf(530, "no"), sent: "connection: 530 50/10 NOT_ALLOWED - no"},
		{err: fmt.Errorf("the disk is gone"), sent: "connection: 541 50/10 INTERNAL_ERROR - the disk is gone"},
	} {
		r := newRig(t)
		r.feed(frame(&protocol.QueueDeclare{Queue: "q"}), publish("", "q1", "a"), frame(&protocol.QueueDeclare{Queue: "r"}))
		r.feed(publish("", "q1", "b"), frame(&protocol.BasicQos{}))
		r.sent("vhost: declarequeue")
		r.reply(c.err)
		if c.sent != "" {
			r.sent(c.sent)
			r.received()
		} else {
			r.sent()
			r.received(c.received)
		}
		r.balanced()
	}
}

// channel.close behind a waiting command is processed after it, in order.
func TestParking_CloseWaitsToo(t *testing.T) {
	r := newRig(t)
	r.feed(frame(&protocol.QueueDeclare{Queue: "q"}), publish("", "q1", "a"), frame(&protocol.ChannelClose{}), publish("", "q1", "late"))
	r.sent("vhost: declarequeue")
	r.succeed()
	r.received("queue.declare-ok {Queue:q MessageCount:5 ConsumerCount:2}")
	r.sent("q1: enqueue a", "connection: closed 1 true")
	if r.in.Phase != input.Ended {
		t.Error("not ended")
	}
	r.balanced()
}

func TestParking_NoAnswerIs541(t *testing.T) {
	r := newRig(t)
	r.feed(frame(&protocol.QueueBind{Queue: "q1", Exchange: "x"}), publish("", "q1", "a"))
	r.turn(input.Expired{ID: r.in.Due() + 1}) // of another command
	r.sent("vhost: bind")
	r.turn(input.Expired{ID: r.in.Due()})
	r.sent("connection: 541 50/20 INTERNAL_ERROR - no answer to queue.bind within 30s")
	r.succeed() // too late
	r.received()
	r.sent()
	r.balanced()
}
