"""Exchanges of all types, bindings, exclusive queues, and refusals."""
import common


def routes(ch):
    for kind, key, sent, missed in (
        ("direct", "a", "a", "b"), ("topic", "*.a.#", "x.a", "a.x"), ("fanout", "", "any", None),
    ):
        ch.exchange_declare("py." + kind, kind)
        queue = common.queue(ch)
        ch.queue_bind(queue, "py." + kind, key)
        ch.basic_publish("py." + kind, sent, b"yes")
        if missed:
            ch.basic_publish("py." + kind, missed, b"no")
        common.equal(common.drain(ch, queue), [b"yes"])
        ch.queue_unbind(queue, "py." + kind, key)
        ch.basic_publish("py." + kind, sent, b"no")
        common.equal(common.drain(ch, queue), [])
        ch.exchange_delete("py." + kind)


def headers(ch):
    import pika
    queue = common.queue(ch)
    ch.queue_bind(queue, "amq.headers", arguments={"x-match": "all", "a": 1, "b": "x"})
    ch.basic_publish("amq.headers", "", b"yes", pika.BasicProperties(headers={"a": 1, "b": "x", "c": None}))
    ch.basic_publish("amq.headers", "", b"no", pika.BasicProperties(headers={"a": 1}))
    common.equal(common.drain(ch, queue), [b"yes"])


def chained(ch):
    ch.exchange_declare("py.front", "fanout", auto_delete=True)
    ch.exchange_declare("py.back", "direct", auto_delete=True)
    ch.exchange_bind("py.back", "py.front")
    queue = common.queue(ch)
    ch.queue_bind(queue, "py.back", "k")
    ch.basic_publish("py.front", "k", b"m")
    common.equal(common.drain(ch, queue), [b"m"])


def exclusive(ch):
    queue = common.queue(ch)
    other = common.connect()
    common.refused(405, "RESOURCE_LOCKED", other.channel().basic_get, queue)
    other.close()
    common.equal(common.drain(ch, queue), [])


def refusals(ch):
    connection = ch.connection
    common.refused(404, "NOT_FOUND - no exchange 'py.none' in vhost '/'", ch.exchange_declare, "py.none", passive=True)
    ch = connection.channel()
    queue = common.queue(ch, "py.limited", max_length=1)
    common.refused(406, "inequivalent arg 'x-max-length'", common.queue, ch, queue, max_length=2)
    ch = connection.channel()
    common.refused(403, "operation not permitted on the default exchange", ch.queue_bind, queue, "", "k")
    common.equal(connection.is_open, True)


common.run(routes, headers, chained, exclusive, refusals)
