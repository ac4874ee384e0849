package main

// Reasons that several scripts share.
const (
	tune530       = "3.10 against 4.x: since 4.x a client learns why its limits are refused"
	unknownName   = "ours is better: RabbitMQ closes the connection without a reason, here the reason is sent"
	exchangeType  = "3.10 against 4.x: since 4.x an unknown exchange type is a channel error"
	content501    = "3.10 against 4.x: 3.10 counts below zero and waits for the rest"
	atOnce        = "ours is better: a method that clients must not send is refused at once; RabbitMQ waits for its content first"
	locator       = "3.10 against 4.x: since 4.x every queue type takes the argument, and its value is checked"
	masterHost    = "ours is better: a value that crashes 3.10 is ignored, as 4.x ignores the argument"
	timeout       = "3.10 against 4.x: the value is checked since 4.x"
	order         = "3.10 against 4.x: 3.10 checks the user-id first"
	cancelOk      = "3.10 against 4.x: some clients answer basic.cancel, which is allowed since 4.x"
	closeAnyTime  = "ours is better: a client can close at any time"
	queueType     = "3.10 against 4.x: since 4.x the type is stored with every queue"
	eager         = "ours is better: a message expires at its own deadline at any position"
	clientDeath   = "3.10 against 4.x: since 4.x x-death headers set by clients are not continued"
	firstDelivery = "3.10 against 4.x: since 4.x a first delivery has no x-delivery-count"
	exactly       = "3.10 against 4.x: since 4.x header values are compared with their types"
)

var explanations = []explanation{
	{
		"connection/start", texts(`product:"*" version:"*"`), texts(`product_version:"*"`),
		"ours: version is the RabbitMQ version that the broker follows, because clients branch on it; product_version is Candlemark's",
	},
	{
		"connection/header/amqp-0-8", texts("connection.start"), texts(`protocol header "AMQP\x00\x00\t\x01"`),
		"3.10 against 4.x: AMQP 0-8 is no longer supported",
	},
	{
		"connection/header/amqp-1-0", texts(`protocol header "AMQP\x00\x00\t\x01"`), texts(`protocol header "AMQP\x00\x01\x00\x00"`),
		"3.10 against 4.x: AMQP 1.0 needs no plugin; a client that does not use SASL is served as ANONYMOUS, where RabbitMQ answers with the SASL header",
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
	{"channel/unexpected/cancel-ok", texts("503 … unimplemented method"), nil, cancelOk},
	{"channel/content/body-too-long", nil, texts("501 … content body frame exceeds remaining content size"), content501},
	{
		"channel/content/body-beyond-512-mib", nil, texts("501 … content body size 536870913 exceeds maximum allowed size 536870912"),
		"3.10 against 4.x: since 4.x an impossible size is refused at the header",
	},
	{
		"channel/content/body-of-2-to-63", nil, texts("501 … content body size 9223372036854775808 exceeds maximum allowed size 536870912"),
		"3.10 against 4.x: since 4.x an impossible size is refused at the header",
	},
	{
		"channel/content/broken-properties", texts("541 … INTERNAL_ERROR"), texts("501 … FRAME_ERROR - cannot decode properties <<128,0,9,120>>"),
		"ours is better: the client's error is reported; RabbitMQ crashes",
	},

	{"exchange/declare/unknown-type", texts("503 … unknown exchange type 'nope'"), texts("406 … unknown exchange type 'nope'"), exchangeType},
	{"exchange/declare/empty-type", texts("503 … invalid exchange type ''"), texts("406 … invalid exchange type ''"), exchangeType},
	{"exchange/declare/unknown-type-nowait", texts("503 … unknown exchange type 'nope'"), texts("406 … unknown exchange type 'nope'"), exchangeType},
	{"exchange/declare/type-of-other-case", texts("503 … unknown exchange type 'DIRECT'"), texts("406 … unknown exchange type 'DIRECT'"), exchangeType},
	{"exchange/redeclare/unknown-type", texts("503 … unknown exchange type 'nope'"), texts("406 … unknown exchange type 'nope'"), exchangeType},

	{
		"queue/redeclare/type-quorum-on-classic", texts("received the value 'quorum' of type 'longstr' but current is none"),
		texts("received 'quorum' but current is 'classic'"), queueType,
	},
	{
		"argument/x-queue-leader-locator/balanced", texts("of queue type rabbit_classic_queue", "404 … no queue '~q'"),
		texts("queue.declare-ok"), locator,
	},
	{
		"argument/x-queue-leader-locator/client-local", texts("of queue type rabbit_classic_queue", "404 … no queue '~q'"),
		texts("queue.declare-ok"), locator,
	},
	{"argument/x-queue-leader-locator/other", texts("of queue type rabbit_classic_queue"), texts("invalid_queue_locator_arg"), locator},
	{"argument/x-queue-leader-locator/int", texts("of queue type rabbit_classic_queue"), texts("{unacceptable_type,signedint}"), locator},
	{"argument/x-queue-master-locator/other", texts("541 … INTERNAL_ERROR", "404 … no queue '~q'"), texts("queue.declare-ok"), masterHost},
	{"argument/x-queue-master-locator/int", texts("541 … INTERNAL_ERROR", "404 … no queue '~q'"), texts("queue.declare-ok"), masterHost},
	{"argument/x-consumer-timeout/minus-one", texts("queue.declare-ok"), texts("{value_negative,-1}", "404 … no queue '~q'"), timeout},
	{"argument/x-consumer-timeout/longstr", texts("queue.declare-ok"), texts("expected integer, got longstr", "404 … no queue '~q'"), timeout},

	{"publish/order/cc-before-user-id", texts("user_id property set to 'other'"), texts("unacceptable_type_in_header"), order},
	{"publish/order/expiration-before-user-id", texts("user_id property set to 'other'"), texts("invalid expiration 'abc': no_integer"), order},
	{
		"publish/size/above-16-mib", texts("MessageCount=1"), texts("406 … larger than configured max size 16777216", "queue.declare-ok"),
		"3.10 against 4.x: the limit is 16 MiB since 4.0, 128 MiB before",
	},

	{
		"consume/cancel-on-ha-failover", texts("invalid arg 'x-cancel-on-ha-failover' … {unacceptable_type,longstr}"), texts("basic.consume-ok"),
		"3.10 against 4.x: 4.x has no mirrored queues and does not support the argument",
	},
	{"consume/consumer-timeout-argument", texts("basic.consume-ok"), texts("invalid arg 'x-consumer-timeout' … expected integer, got longstr"), timeout},
	{"cancel/cancel-ok-from-client", texts("503 … unimplemented method"), nil, cancelOk},
	{
		"qos/global/recover", texts(`DeliveryTag=3 RoutingKey="~q" |  | "3"`, `DeliveryTag=4 RoutingKey="~q" |  | "4"`),
		texts(`DeliveryTag=3 Redelivered=true RoutingKey="~q" |  | "1"`, `DeliveryTag=4 Redelivered=true RoutingKey="~q" |  | "2"`),
		"ours: requeued messages are first again; in one of ten runs of RabbitMQ other messages overtake them",
	},
	{
		"qos/global/set-after-consumers", texts(`ConsumerTag="b" DeliveryTag=3`), texts(`ConsumerTag="a" DeliveryTag=3`),
		"ours: among the consumers ready for it, the one that has waited longest gets the next message",
	},
	{
		"qos/global/single-active", nil, texts(`ConsumerTag="b" DeliveryTag=2`),
		"ours is better: the next active consumer gets ready messages as soon as the limit allows; in RabbitMQ they wait for another event",
	},
	{
		"qos/global-does-not-stop-no-ack", nil, texts(`basic.deliver ConsumerTag="b"`),
		"ours is better: as AMQP 0-9-1 specifies, no limit applies to consumers without acknowledgements",
	},
	{
		"qos/two-consumers-recover", texts(`ConsumerTag="a" … "2"`, `ConsumerTag="b" … "3"`), texts(`ConsumerTag="a" … "3"`, `ConsumerTag="b" … "2"`),
		"ours: all are requeued at once and redelivered in turn; RabbitMQ requeues those of one consumer after the other",
	},

	{"ttl/behind-a-longer-one", texts("MessageCount=2"), texts("MessageCount=1"), eager},
	{"dead/expiry-order-mixed", texts(`| "300"`, `| "100"`), texts(`| "300"`, `| "100"`), eager + ", and is dead-lettered then"},
	{
		"dead/cc-with-routing-key", texts(`Headers={x-death`), texts(`Headers={CC:["~r"] x-death`),
		"3.10 against 4.x: since 3.13 CC stays in the headers when a dead-letter routing key is set",
	},
	{
		"dead/nacked-multiple-by-priority", texts(`| "high"`, `| "low"`), texts(`| "low"`, `| "high"`),
		"ours: messages rejected by one method are dead-lettered in the order of their deliveries; RabbitMQ's queues with priorities do so for each priority separately",
	},
	{"dead/client-x-death/array", texts("count:long(1) … count:long(7)"), texts("x-first-death-queue"), clientDeath},
	{"dead/client-x-death/string", texts("x-death:[{count:long(1)"), texts("x-first-death-queue"), clientDeath},

	{"headers/double-is-not-integer", texts("basic.get-ok"), texts("basic.get-empty"), exactly},
	{"headers/timestamp-is-not-integer", texts("basic.get-ok"), texts("basic.get-empty"), exactly},
	{"headers/equal/timestamp", texts("basic.get-ok"), texts("basic.get-empty"), exactly},
	{
		"headers/header-twice", texts("basic.get-empty"), texts("basic.get-ok"),
		"3.10 against 4.x: since 4.x the last of two headers of one name counts",
	},

	{"priority/ttl-behind-higher", texts("MessageCount=2", "basic.get-empty"), texts("MessageCount=1", `| "low"`), eager},
	{
		"reply-to/passive-declare-of-gone-requester", texts("541 … INTERNAL_ERROR"), texts("404 … no queue 'amq.rabbitmq.reply-to."),
		"ours is better: a name without a requester is not found; RabbitMQ crashes",
	},
	{
		"quorum/redeclare-as-classic", texts("received none but current is the value 'quorum' of type 'longstr'"),
		texts("received 'classic' but current is 'quorum'"), queueType,
	},
	{"quorum/publish-get-ack", texts("x-delivery-count:long(0)"), texts("basic.get-ok DeliveryTag=1"), firstDelivery},
	{"quorum/delivery-count", texts("x-delivery-count:long(0)"), texts("basic.get-ok DeliveryTag=1"), firstDelivery},
	{"quorum/delivery-limit-dead-letters", texts("x-delivery-count:long(0)"), texts("basic.get-ok DeliveryTag=1"), firstDelivery},
	{
		"quorum/global-qos", texts("540 … does not support global qos"), texts("basic.consume-ok"),
		"ours is better: a common limit works on queues of every type",
	},
	{
		"stream/declare", texts("queue.declare-ok"), texts("406 … unsupported queue type 'stream'"),
		"streams are not supported yet; the client gets an error instead of another type",
	},
}
