package main

// beyond is the part of docs/compatibility.md that no script can show: what depends on a version, a login, an alarm or a name.
// What RabbitMQ does was read in its source, at the tags that are named.
const beyond = `
## The product's name

The server properties say the product ` + "`Candlemark`" + ` and the version ` + "`4.0.5`" + `, the level of RabbitMQ that is followed: clients branch on
both. ` + "`--product-name RabbitMQ`" + ` ([limits](limits.md#product-name---product-name)) announces another product. Who looks at it:

| client | with product Candlemark | with ` + "`--product-name RabbitMQ`" + ` |
| --- | --- | --- |
| kombu (Celery), its transports pyamqp and librabbitmq | ` + "`basic.qos`" + ` with global false: a limit for each consumer | from version 3.3 on global true: one limit for the channel; some releases of kombu only below version 4.0 |
| amqplib (node) | its own test ` + "`serverProperties`" + ` fails, nothing else | passes |
| amqp091-go | its own tests ` + "`TestRabbitMQQueueTTLGet`, `TestRabbitMQQueueNackMultipleRequeue`" + ` and ` + "`TestIntegrationRecoverNotImplemented`" + ` do nothing | they run |

A limit for each consumer is taken when a consumer starts, here as in RabbitMQ. So what Celery changes later, for tasks with an ETA
or by autoscaling, does not reach a worker that runs; with the other name it does, by a common limit, on queues of every type.

## The version

4.0.5 is announced and stays. Where later versions differ, this is what is done:

| | 4.0.5 | later | Candlemark |
| --- | --- | --- | --- |
| least ` + "`frame_max`" + ` | 4096 | 8192 since 4.1 | 4096, as 4.0.5 |
| largest frame before ` + "`connection.tune`" + ` | 4096 | 8192 since 4.1 | 8192: who sends 4096 notices nothing |
| passive declare of a queue or an exchange | needs no permission | configure in 4.2.6, any of the three since 4.2.7 | any of the three: nobody learns what is in a queue on which he has no right |

## Logging in

| | RabbitMQ 4.0.5 | Candlemark |
| --- | --- | --- |
| ` + "`ANONYMOUS`" + ` | offered; lets in as ` + "`anonymous_login_user`" + `, guest by default, without a password | not offered, and there is no setting for it: guest is an administrator, and RabbitMQ's own advice for production is to switch it off. No client of AMQP 0-9-1 takes it unasked |
| a wrong password over HTTP | 401 ` + "`{\"error\":\"not_authorized\",\"reason\":\"Not_Authorized\"}`" + ` (3.10: ` + "`Login failed`" + `) | the same, with ` + "`WWW-Authenticate`" + ` as HTTP demands |
| no password over HTTP | 401 with ` + "`WWW-Authenticate`" + `, without a body | the same, with the body above |
| a value of the wrong kind over HTTP | a list, ` + "`[\"not_boolean\",7]`" + ` | the same |
| ` + "`feature-flags`, `deprecated-features`" + ` over HTTP | any user with one of the four tags | the same |

## Definitions

| | RabbitMQ 4.0.5 | Candlemark |
| --- | --- | --- |
| an import with a bad item | stops there, with 400; what came before is done | 400 too, but everything else is done; nothing with ` + "`?strict=true`" + ` ([definitions](definitions.md)) |
| a queue that would exceed ` + "`max-queues`" + ` | nothing is imported | it is refused, the others come |
| ` + "`internal_cluster_id`" + ` in an export | there | left out: it is one broker's |

## During an alarm

RabbitMQ stops reading at the first content header: that message, unless it is empty, waits till the alarm is over. Here what came in
the same read goes on, at most 128 KiB: the first publishes after an alarm, if they are small, are routed and confirmed. The connection is told
and not read any further from there on, as in RabbitMQ. A large message waits behind its header ([alarms](alarms.md#what-is-blocked)).
A binding to an ` + "`x-recent-history`" + ` exchange that would bring messages is 406 meanwhile; in RabbitMQ it brings them.

## Consumers without acknowledgements

A common limit (` + "`basic.qos`" + ` with global true) does not hold consumers that do not acknowledge: AMQP 0-9-1 says that it is ignored for
them, and nothing that they do could end the wait. In RabbitMQ, 4.0.5 included, they count for nothing and are held all the same while
other consumers of the channel have reached the limit (the test ` + "`noAckObeysLimit`" + ` of its Java client asks for that);
` + "`qos/global-does-not-stop-no-ack`" + ` below shows it. A limit for each consumer holds them in neither.
`
