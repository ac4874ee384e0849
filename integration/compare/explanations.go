package main

// Reasons that several scripts share.
const (
	otherHeader  = "ours: the answer names AMQP 0-9-1; RabbitMQ names the SASL header of AMQP 1.0"
	tune530      = "ours is better: a client learns why its limits are refused"
	smallFrames  = "ours is better: clients with a frame size from 4096 are served; RabbitMQ requires 8192 since 4.1 and closes the connection without a reason"
	unknownName  = "ours is better: RabbitMQ closes the connection without a reason, here the reason is sent"
	atOnce       = "ours is better: a method that clients must not send is refused at once; RabbitMQ waits for its content first"
	cancelOk     = "ours is better: some clients answer basic.cancel, which is allowed; RabbitMQ crashes"
	deprecated   = "ours is better: RabbitMQ closes the connection of a client that uses a removed feature; here the argument has no effect"
	timeout      = "ours is better: classic queues have a consumer time-out of their own, too"
	closeAnyTime = "ours is better: a client can close at any time"
	eager        = "ours is better: a message expires at its own deadline at any position"
	oneLimit     = "ours is better: the limit is common to the consumers of the channel, as in RabbitMQ before 4.3, where it counts for each consumer by default"
	asSent       = "ours: properties are passed on as they were sent"
	headerTwice  = "ours: headers are passed on as they were sent"
	equalTime    = "ours is better: a timestamp equals the same timestamp, not a number"
)

var explanations = []explanation{
	{
		"connection/start", texts(`product:"*" version:"*"`), texts(`product_version:"*"`),
		"ours: version is the RabbitMQ version that the broker follows, because clients branch on it; product_version is Candlemark's",
	},
	{"connection/tune/all-zero", nil, texts("530 … negotiated frame_max = 0 is higher than the maximum allowed value (131072)"), tune530},
	{"connection/tune/frame-too-small", nil, texts("530 … negotiated frame_max = 4095 is lower than the minimum allowed value (4096)"), tune530},
	{"connection/tune/frame-1", nil, texts("530 … negotiated frame_max = 1 is lower than the minimum allowed value (4096)"), tune530},
	{"connection/tune/frame-too-large", nil, texts("530 … negotiated frame_max = 131073 is higher than the maximum allowed value (131072)"), tune530},
	{"connection/tune/channels-too-many", nil, texts("530 … negotiated channel_max = 2048 is higher than the maximum allowed value (2047)"), tune530},
	{"connection/tune/channels-65535", nil, texts("530 … negotiated channel_max = 65535 is higher than the maximum allowed value (2047)"), tune530},
	{"connection/frame/method-unknown-class", nil, texts("540 … NOT_IMPLEMENTED - unknown method {11,10}"), unknownName},
	{"connection/frame/method-unknown-method", nil, texts("540 … NOT_IMPLEMENTED - unknown method {60,39}"), unknownName},
	{"connection/frame/method-unknown-channel-0", nil, texts("540 … NOT_IMPLEMENTED - unknown method {11,10}"), unknownName},
	{"connection/frame/arguments-broken-table", nil, texts("501 … FRAME_ERROR - cannot decode <<0,0,1,113,0,0,0,0,3,1,97,63>>"), unknownName},
	{"connection/state/close-before-open", texts("504 … unexpected method in connection state opening"), texts("connection.close-ok"), closeAnyTime},
	{"connection/state/close-before-start-ok", nil, texts("connection.close-ok"), closeAnyTime},

	{
		"channel/error/two-close-ok", texts("504 … expected 'channel.open'"), nil,
		"ours is better: when both sides close at once a client may answer twice; the second answer is ignored",
	},
	{"channel/unexpected/deliver", nil, texts("503 … unimplemented method"), atOnce},
	{"channel/unexpected/return", nil, texts("503 … unimplemented method"), atOnce},
	{"channel/unexpected/get-ok", nil, texts("503 … unimplemented method"), atOnce},
	{
		"channel/content/broken-properties", texts("541 … INTERNAL_ERROR"), texts("501 … FRAME_ERROR - cannot decode properties <<128,0,9,120>>"),
		"ours is better: the client's error is reported; RabbitMQ crashes",
	},
	{"argument/x-queue-master-locator/other", texts("541 … INTERNAL_ERROR", "404 … no queue '~q'"), texts("queue.declare-ok"), deprecated},
	{"argument/x-queue-master-locator/int", texts("541 … INTERNAL_ERROR", "404 … no queue '~q'"), texts("queue.declare-ok"), deprecated},
	{
		"qos/two-consumers-recover", texts(`ConsumerTag="a" … "2"`, `ConsumerTag="b" … "3"`), texts(`ConsumerTag="a" … "3"`, `ConsumerTag="b" … "2"`),
		"ours: all are requeued at once and redelivered in turn; RabbitMQ requeues those of one consumer after the other",
	},

	{"ttl/behind-a-longer-one", texts("MessageCount=2"), texts("MessageCount=1"), eager},
	{"dead/expiry-order-mixed", texts(`| "300"`, `| "100"`), texts(`| "300"`, `| "100"`), eager + ", and is dead-lettered then"},
	{
		"dead/nacked-multiple-by-priority", texts(`| "high"`, `| "low"`), texts(`| "low"`, `| "high"`),
		"ours: messages rejected by one method are dead-lettered in the order of their deliveries; RabbitMQ's queues with priorities do so for each priority separately",
	},

	{"priority/ttl-behind-higher", texts("MessageCount=2", "basic.get-empty"), texts("MessageCount=1", `| "low"`), eager},
	{
		"reply-to/passive-declare-of-gone-requester", texts("541 … INTERNAL_ERROR"), texts("404 … no queue 'amq.rabbitmq.reply-to."),
		"ours is better: a name without a requester is not found; RabbitMQ crashes",
	},
	{
		"stream/declare", texts("queue.declare-ok"), texts("406 … unsupported queue type 'stream'"),
		"streams are not supported yet; the client gets an error instead of another type",
	},

	{
		"connection/header/amqp-1-0", texts(`protocol header "AMQP\x03\x01\x00\x00"`), texts(`protocol header "AMQP\x00\x01\x00\x00"`),
		"ours: a client that does not use SASL is served as ANONYMOUS where that is allowed; RabbitMQ answers with the SASL header",
	},
	{"connection/header/amqp-0-8", texts(`protocol header "AMQP\x03\x01\x00\x00"`), texts(`protocol header "AMQP\x00\x00\t\x01"`), otherHeader},
	{"connection/header/amqp-0-8-other", texts(`protocol header "AMQP\x03\x01\x00\x00"`), texts(`protocol header "AMQP\x00\x00\t\x01"`), otherHeader},
	{"connection/header/amqp-0-10", texts(`protocol header "AMQP\x03\x01\x00\x00"`), texts(`protocol header "AMQP\x00\x00\t\x01"`), otherHeader},
	{"connection/header/http", texts(`protocol header "AMQP\x03\x01\x00\x00"`), texts(`protocol header "AMQP\x00\x00\t\x01"`), otherHeader},
	{"connection/header/tls", texts(`protocol header "AMQP\x03\x01\x00\x00"`), texts(`protocol header "AMQP\x00\x00\t\x01"`), otherHeader},
	{"connection/tune/small", nil, texts("connection.open-ok", "connection.close-ok", "channel.open-ok", "queue.declare-ok"), smallFrames},
	{"connection/tune/small-frames-large-body", texts("basic.get-ok"), texts("connection.open-ok", "basic.get-ok … in frames of [4088 4088 1824]"), smallFrames},
	{"connection/edge/method-frame-above-4096", nil, texts("connection.open-ok", "connection.close … {frame_too_large,4100,4088}", "channel.open-ok"), smallFrames},
	{"connection/edge/body-frame-above-4096", nil, texts("connection.open-ok", "connection.close … {frame_too_large,8000,4088}", "channel.open-ok"), smallFrames},
	{"connection/edge/body-frame-of-4088", nil, texts("connection.open-ok", "channel.open-ok", "queue.declare-ok", "basic.get-ok"), smallFrames},
	{"channel/unexpected/cancel-ok", texts("541 … INTERNAL_ERROR"), nil, cancelOk},
	{"cancel/cancel-ok-from-client", texts("541 … INTERNAL_ERROR"), nil, cancelOk},

	{
		"argument/x-queue-version/one", texts("unsupported queue version '1'", "404 … no queue '~q'"), texts("queue.declare-ok"),
		"ours: definitions from older brokers name version 1, which has no effect here",
	},
	{"argument/x-queue-master-locator/min-masters", texts("541 … queue_master_locator", "404 … no queue '~q'"), texts("queue.declare-ok"), deprecated},
	{"argument/x-consumer-timeout/int", texts("of queue type rabbit_classic_queue", "404 … no queue '~q'"), texts("queue.declare-ok"), timeout},
	{"argument/x-consumer-timeout/zero", texts("of queue type rabbit_classic_queue", "404 … no queue '~q'"), texts("queue.declare-ok"), timeout},
	{"argument/x-consumer-timeout/minus-one", texts("of queue type rabbit_classic_queue"), texts("{value_negative,-1}"), timeout},
	{"argument/x-consumer-timeout/longstr", texts("of queue type rabbit_classic_queue"), texts("expected integer, got longstr"), timeout},
	{"consume/consumer-timeout-argument", texts("of queue type rabbit_classic_queue"), texts("expected integer, got longstr"), timeout},

	{"publish/expiration/plus", texts(`Expiration="5000"`), texts(`Expiration="+5000"`), asSent},
	{"publish/expiration/leading-zeros", texts(`Expiration="7000"`), texts(`Expiration="007000"`), asSent},
	{"publish/expiration/non-ascii", texts("invalid expiration '5ü'"), texts("invalid expiration '5ü'"), "ours is better: the text is repeated as it was sent"},
	{"copy/cc-twice", texts(`Headers={CC:["~r"]}`), texts(`Headers={CC:["~r"] CC:["~s"]}`), headerTwice},
	{"headers/header-twice", texts("Headers={a:signedint(1)}"), texts("Headers={a:signedint(1) a:signedint(2)}"), headerTwice},
	{"headers/equal/timestamp", texts("basic.get-empty", "Headers={a:signedint(5)}"), texts("Headers={a:timestamp(5)}", "basic.get-empty"), equalTime},

	{"qos/global", texts(`ConsumerTag="b" DeliveryTag=2`, `ConsumerTag="a" DeliveryTag=3`), texts(`ConsumerTag="a" DeliveryTag=2`), oneLimit},
	{"qos/global-raised", nil, texts("DeliveryTag=2", "DeliveryTag=3"), oneLimit},
	{"qos/global-lowered", texts("DeliveryTag=4", "DeliveryTag=5"), texts("DeliveryTag=4"), oneLimit},
	{"qos/global-removed", nil, texts("DeliveryTag=2", "DeliveryTag=3", "DeliveryTag=4", "DeliveryTag=5"), oneLimit},
	{"qos/global/priority-high-first", texts(`ConsumerTag="low" DeliveryTag=2`), texts(`ConsumerTag="high" DeliveryTag=2`), oneLimit},
	{"qos/global/priority-burst", texts("DeliveryTag=4", "DeliveryTag=5"), nil, oneLimit},
	{"qos/global/round-robin", texts("DeliveryTag=5"), texts("DeliveryTag=5"), oneLimit},
	{"qos/global/set-after-consumers", texts("DeliveryTag=3", "DeliveryTag=4"), texts("DeliveryTag=3"), oneLimit},
	{"qos/global/cancel-keeps-unacked-counted", texts("DeliveryTag=2"), texts("DeliveryTag=2"), oneLimit},
	{"qos/global/tx-ack-frees-at-commit", texts("tx.commit-ok"), texts("tx.commit-ok"), oneLimit},
	{"qos/global/single-active", texts("DeliveryTag=2"), texts("DeliveryTag=2"), oneLimit},
	{"qos/global/queue-deleted-frees", texts("DeliveryTag=2"), texts("DeliveryTag=2"), oneLimit},
	{
		"tx/queue-gone-before-commit", texts("506 … RESOURCE_ERROR - failed to deliver message"), texts("tx.commit-ok"),
		"ours is better: a message that no queue takes is dropped, as without a transaction",
	},
	{
		"reply-to/passive-declare-of-nonsense", texts("541 … INTERNAL_ERROR"), texts("404 … no queue 'amq.rabbitmq.reply-to.nonsense'"),
		"ours is better: a name without a requester is not found; RabbitMQ crashes",
	},
}
