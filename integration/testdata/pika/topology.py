"""Exchanges of all types, bindings, exclusive queues, and refusals."""
import house


def routes(ch):
    for kind, key, sent, missed in (
        ("direct", "a", "a", "b"), ("topic", "*.a.#", "x.a", "a.x"), ("fanout", "", "any", None),
    ):
        ch.exchange_declare("py." + kind, kind)
        queue = house.queue(ch)
        ch.queue_bind(queue, "py." + kind, key)
        ch.basic_publish("py." + kind, sent, b"yes")
        if missed:
            ch.basic_publish("py." + kind, missed, b"no")
        house.equal(house.drain(ch, queue), [b"yes"])
        ch.queue_unbind(queue, "py." + kind, key)
        ch.basic_publish("py." + kind, sent, b"no")
        house.equal(house.drain(ch, queue), [])
        ch.exchange_delete("py." + kind)


def headers(ch):
    import pika
    queue = house.queue(ch)
    ch.queue_bind(queue, "amq.headers", arguments={"x-match": "all", "a": 1, "b": "x"})
    ch.basic_publish("amq.headers", "", b"yes", pika.BasicProperties(headers={"a": 1, "b": "x", "c": None}))
    ch.basic_publish("amq.headers", "", b"no", pika.BasicProperties(headers={"a": 1}))
    house.equal(house.drain(ch, queue), [b"yes"])


def chained(ch):
    ch.exchange_declare("py.front", "fanout", auto_delete=True)
    ch.exchange_declare("py.back", "direct", auto_delete=True)
    ch.exchange_bind("py.back", "py.front")
    queue = house.queue(ch)
    ch.queue_bind(queue, "py.back", "k")
    ch.basic_publish("py.front", "k", b"m")
    house.equal(house.drain(ch, queue), [b"m"])


def exclusive(ch):
    queue = house.queue(ch)
    other = house.connect()
    house.refused(405, "RESOURCE_LOCKED", other.channel().basic_get, queue)
    other.close()
    house.equal(house.drain(ch, queue), [])


def refusals(ch):
    connection = ch.connection
    house.refused(404, "NOT_FOUND - no exchange 'py.none' in vhost '/'", ch.exchange_declare, "py.none", passive=True)
    ch = connection.channel()
    queue = house.queue(ch, "py.limited", max_length=1)
    house.refused(406, "inequivalent arg 'x-max-length'", house.queue, ch, queue, max_length=2)
    ch = connection.channel()
    house.refused(403, "operation not permitted on the default exchange", ch.queue_bind, queue, "", "k")
    house.equal(connection.is_open, True)


house.run(routes, headers, chained, exclusive, refusals)
