package main

// beyond is the part of docs/compatibility.md that no script can show: differences that depend on a version, a login,
// an alarm or a name. RabbitMQ's behaviour is from its source, at the given tags.
const beyond = `
## The product's name

The server properties contain the product ` + "`Candlemark`" + ` and the version ` + "`4.3.6`" + `, the RabbitMQ version that the broker follows: clients branch on
both. ` + "`--product-name RabbitMQ`" + ` ([limits](limits.md#product-name---product-name)) announces another product. Clients that depend on it:

| client | with product Candlemark | with ` + "`--product-name RabbitMQ`" + ` |
| --- | --- | --- |
| kombu (Celery), its transports pyamqp and librabbitmq | ` + "`basic.qos`" + ` with global false: a limit for each consumer | from version 3.3 on global true: one limit for the channel; some releases of kombu only below version 4.0 |
| amqplib (node) | its own test ` + "`serverProperties`" + ` fails, nothing else | passes |
| amqp091-go | its own tests ` + "`TestRabbitMQQueueTTLGet`, `TestRabbitMQQueueNackMultipleRequeue`" + ` and ` + "`TestIntegrationRecoverNotImplemented`" + ` are skipped | they run |

A limit for each consumer is fixed when the consumer starts, here as in RabbitMQ. Later changes by Celery, for tasks with an ETA
or by autoscaling, therefore do not apply to a running worker; with the other name they do, through a common limit, on queues of every type.

## The version

The broker announces 4.3.6. Where it differs on purpose:

| | RabbitMQ 4.3.6 | Candlemark |
| --- | --- | --- |
| minimum ` + "`frame_max`" + ` | 8192 | 4096 |
| passive declare of a queue or an exchange | needs one of the three permissions | the same |
| ` + "`basic.qos`" + ` with global true | a deprecated feature: by default a limit for each consumer | one limit for the channel |
| a rejected message in its dead-letter queue | has the flag ` + "`redelivered`" + ` | has it when that queue has delivered it before |

## Logging in

| | RabbitMQ 4.3.6 | Candlemark |
| --- | --- | --- |
| ` + "`ANONYMOUS`" + ` | offered; logs in as ` + "`anonymous_login_user`" + `, guest by default, without a password | not offered over AMQP 0-9-1, and there is no setting for it: guest is an administrator, and RabbitMQ recommends switching it off in production. No client of AMQP 0-9-1 uses it by default |
| ` + "`EXTERNAL`" + ` | always offered over TLS if the plugin is enabled | offered only to clients whose verified certificate names a user that may log in; a refusal is logged with the certificate's subject, issuer and serial number |
| a wrong password over HTTP | 401 ` + "`{\"error\":\"not_authorized\",\"reason\":\"Not_Authorized\"}`" + ` (3.10: ` + "`Login failed`" + `) | the same, with ` + "`WWW-Authenticate`" + ` as HTTP requires |
| no password over HTTP | 401 with ` + "`WWW-Authenticate`" + `, without a body | the same, with the body above |
| a value of the wrong type over HTTP | a list, ` + "`[\"not_boolean\",7]`" + ` | the same |
| ` + "`feature-flags`, `deprecated-features`" + ` over HTTP | any user with one of the four tags | the same |

## Definitions

| | RabbitMQ 4.3.6 | Candlemark |
| --- | --- | --- |
| an import with an invalid item | 400; which other items are imported depends on their order | 400 as well, but all other items are imported; none with ` + "`?strict=true`" + ` ([definitions](definitions.md)) |
| federation | a plugin | not supported: upstreams are kept without effect; the dry run of an import, the log at each start, ` + "`federation-links`" + ` (` + "`not_running`" + `), ` + "`federation_status`" + ` and the page Parameters say so |
| a queue that would exceed ` + "`max-queues`" + ` | nothing is imported | it is refused, the others are imported |

## The HTTP API

The keys and types of RabbitMQ 4.3.6's answers are recorded (` + "`integration/broker/testdata/rabbitmq-4.3.6.txt`" + `) and compared with those here.

| | RabbitMQ 4.3.6 | Candlemark |
| --- | --- | --- |
| keys about Erlang, its processes, message store and HTTP server (` + "`garbage_collection`, `reductions`, `io_…`, `cached_segments`" + ` and the like) | present | absent; versions of Erlang are empty texts |
| ` + "`messages_by_priority`, `messages_active_priorities`, `messages_ready_returned`" + ` of quorum queues, ` + "`publishers`" + ` of queues | counts | absent: messages are not counted by priority, and queues do not know who publishes |
| internal exchanges in an export | omitted | exported |
| a body without ` + "`Content-Type`" + ` | 415 for some objects, such as operator policies | read as JSON |
| ` + "`GET /api/auth`" + ` without OAuth 2 | 404 | ` + "`{\"oauth_enabled\":false}`" + `, as in 4.0 |

## During an alarm

RabbitMQ stops reading at the first content header: that message, unless it is empty, waits until the alarm is cleared. Here the rest of the same read
is still processed, at most 128 KiB: the first publishes after an alarm, if they are small, are routed and confirmed. Then the connection is notified
and not read any further, as in RabbitMQ. A large message waits after its header ([alarms](alarms.md#blocked-connections)).
A binding to an ` + "`x-recent-history`" + ` exchange that would deliver messages is refused with 406 meanwhile; in RabbitMQ it delivers them.

## Consumers without acknowledgements

A common limit (` + "`basic.qos`" + ` with global true) does not apply to consumers without acknowledgements: AMQP 0-9-1 specifies that it is ignored for
them, and they never acknowledge, so the limit would stop them forever. In RabbitMQ, including 4.3.6, their messages do not count, but they get none while
other consumers of the channel have reached the limit (the test ` + "`noAckObeysLimit`" + ` of its Java client expects that);
` + "`qos/global-does-not-stop-no-ack`" + ` below shows it. A limit for each consumer does not apply to them in either broker.
`
