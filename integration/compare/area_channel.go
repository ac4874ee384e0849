package main

import "candlemark/protocol"

// fail closes a channel by a harmless mistake.
var fail = declare("~missing", passive)

var channelScripts = []script{
	s("channel/open-close", ready, openChannel(), bare(closeChannel()), openChannel(), bare(closeChannel())),
	s("channel/open-twice", openChannelFirst, openChannel(), settle()),
	s("channel/open-after-error", fail, declare("~q")),
	s("channel/closed/method-after-close", declare("~q"), closeChannel(), bare(declare("~q")), settle()),
	s("channel/closed/close-after-close", declare("~q"), closeChannel(), bare(closeChannel()), settle()),
	s("channel/closed/close-ok-unasked", declare("~q"), bare(send(&protocol.ChannelCloseOk{})), settle()),
	s("channel/closed/method-on-unopened", ready, bare(on(1, 5, bare(declare("~q")))), settle()),
	s("channel/closed/close-unopened", ready, bare(closeChannel()), settle()),
	s("channel/closed/close-ok-unopened", ready, bare(send(&protocol.ChannelCloseOk{})), settle()),
	s("channel/closed/ack-on-unopened", ready, bare(ack(1)), settle()),
	s("channel/error/methods-before-close-ok", declare("~q"), holdCloseOk(), fail, bare(send(&protocol.QueueDeclare{Queue: "~never"}), send(&protocol.BasicGet{Queue: "~q"})),
		bare(publish("", "~q", "lost")), settle(), bare(send(&protocol.ChannelCloseOk{})), settle(), declare("~q", passive)),
	s("channel/error/close-instead-of-close-ok", declare("~q"), holdCloseOk(), fail, bare(send(&protocol.ChannelClose{ReplyCode: 200})), settle()),
	s("channel/error/open-instead-of-close-ok", declare("~q"), holdCloseOk(), fail, bare(send(&protocol.ChannelOpen{})), settle()),
	s("channel/error/two-close-ok", declare("~q"), fail, bare(send(&protocol.ChannelCloseOk{})), settle()),
	s("channel/error/others-live", declare("~q"), on(1, 2, fail, declare("~q2")), declare("~q", passive)),
	s("channel/error/pipelined", send(&protocol.QueueDeclare{Queue: "~gone", Passive: true}), bare(send(&protocol.QueueDeclare{Queue: "~q"})), settle(),
		declare("~q", passive)),
	s("channel/numbers", on(1, 2047, declare("~q")), on(1, 3, declare("~q", passive)), on(1, 2047, closeChannel()), on(1, 2047, declare("~q"))),

	s("channel/flow/on", send(&protocol.ChannelFlow{Active: true}), settle()),
	s("channel/flow/off", send(&protocol.ChannelFlow{Active: false}), settle()),
	s("channel/flow/ok-unasked", send(&protocol.ChannelFlowOk{Active: true}), settle()),
	s("channel/access/request", call(&protocol.AccessRequest{Realm: "/data", Active: true, Write: true, Read: true})),

	s("channel/unexpected/open-ok", openChannelFirst, frameOf(&protocol.ChannelOpenOk{}), settle()),
	s("channel/unexpected/declare-ok", openChannelFirst, frameOf(&protocol.QueueDeclareOk{Queue: "x"}), settle()),
	s("channel/unexpected/deliver", openChannelFirst, frameOf(&protocol.BasicDeliver{ConsumerTag: "x"}), settle()),
	s("channel/unexpected/return", openChannelFirst, frameOf(&protocol.BasicReturn{}), settle()),
	s("channel/unexpected/get-ok", openChannelFirst, frameOf(&protocol.BasicGetOk{}), settle()),
	s("channel/unexpected/get-empty", openChannelFirst, frameOf(&protocol.BasicGetEmpty{}), settle()),
	s("channel/unexpected/consume-ok", openChannelFirst, frameOf(&protocol.BasicConsumeOk{ConsumerTag: "x"}), settle()),
	s("channel/unexpected/cancel-ok", openChannelFirst, frameOf(&protocol.BasicCancelOk{ConsumerTag: "x"}), settle(), openChannelFirst),
	s("channel/unexpected/qos-ok", openChannelFirst, frameOf(&protocol.BasicQosOk{}), settle()),
	s("channel/unexpected/recover-ok", openChannelFirst, frameOf(&protocol.BasicRecoverOk{}), settle()),
	s("channel/unexpected/select-ok", openChannelFirst, frameOf(&protocol.ConfirmSelectOk{}), settle()),
	s("channel/unexpected/access-request-ok", openChannelFirst, frameOf(&protocol.AccessRequestOk{}), settle()),

	s("channel/content/method-instead-of-header", openChannelFirst, publishMethod("", "~q"), frameOf(&protocol.BasicQos{}), settle()),
	s("channel/content/body-instead-of-header", openChannelFirst, publishMethod("", "~q"), frame(3, []byte("x")), settle()),
	s("channel/content/header-instead-of-body", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 0, 5, 0, 0)),
		frame(2, contentHeader(60, 0, 5, 0, 0)), settle()),
	s("channel/content/method-instead-of-body", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 0, 5, 0, 0)),
		frameOf(&protocol.BasicQos{}), settle()),
	s("channel/content/other-class", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(50, 0, 0, 0, 0)), settle()),
	s("channel/content/weight", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 1, 0, 0, 0)), settle()),
	s("channel/content/body-too-long", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 0, 2, 0, 0)), frame(3, []byte("xyz")), settle()),
	s("channel/content/body-in-pieces", declare("~q"), publishMethod("", "~q"), frame(2, contentHeader(60, 0, 5, 0, 0)), frame(3, []byte("he")),
		frame(3, nil), frame(3, []byte("llo")), get("~q", noAck)),
	s("channel/content/body-beyond-512-mib", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 0, 1<<29+1, 0, 0)), settle()),
	s("channel/content/body-of-2-to-63", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 0, 1<<63, 0, 0)), settle()),
	s("channel/content/broken-properties", declare("~q"), publishMethod("", "~q"), frame(2, contentHeader(60, 0, 0, 0x80, 0, 9, 'x')), settle()),
	s("channel/content/header-for-a-missing-exchange-then-close", openChannelFirst, publishMethod("~nowhere", "k"),
		frame(2, contentHeader(60, 0, 3, 0, 0)), settle(), frameOf(&protocol.ChannelClose{ReplyCode: 200}), settle()),
	s("channel/content/close-inside-content", openChannelFirst, publishMethod("", "~q"), frameOf(&protocol.ChannelClose{ReplyCode: 200}), settle()),
	s("channel/content/heartbeat-inside-content", declare("~q"), publishMethod("", "~q"), heartbeat(), frame(2, contentHeader(60, 0, 1, 0, 0)),
		frame(3, []byte("x")), get("~q", noAck)),
}

// openChannelFirst opens the step's channel and shows that it works.
var openChannelFirst = qos(0)
