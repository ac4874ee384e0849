"""TTL at any position, dead letters, x-death, queues that expire or are deleted, delays."""
import json
import time

import common
import pika


def expiring(ttl):
    return pika.BasicProperties(expiration=str(ttl))


def any_position(ch):
    dead = common.queue(ch)
    queue = common.queue(ch, dead_letter_exchange="", dead_letter_routing_key=dead)
    began = time.monotonic()
    ch.basic_publish("", queue, b"stays")
    for ttl in (400, 100, 250):
        ch.basic_publish("", queue, str(ttl), expiring(ttl))
    got = common.wait(ch, dead, 3)
    # In any order: on a busy machine the second publish may follow the first by more than the difference of their TTLs.
    common.equal({body for _, _, _, body in got}, {b"100", b"250", b"400"})
    for at, _, _, body in got:
        if at - began < int(body) / 1000:
            raise AssertionError(f"{body} came after {at - began} s")
    common.equal(common.drain(ch, queue), [b"stays"])


def queue_ttl(ch):
    dead = common.queue(ch)
    queue = common.queue(ch, message_ttl=50, dead_letter_exchange="", dead_letter_routing_key=dead)
    ch.basic_publish("", queue, b"m", expiring(3_600_000))
    (_, _, properties, _), = common.wait(ch, dead, 1)
    common.equal(properties.expiration, None)
    death, = properties.headers["x-death"]
    when = death.pop("time")
    common.equal(death, {"count": 1, "reason": "expired", "queue": queue, "exchange": "", "routing-keys": [queue], "original-expiration": "3600000"})
    common.equal(when.year >= 2024, True)
    common.equal({k: v for k, v in properties.headers.items() if k != "x-death"}, {
        f"x-{end}-death-{what}": v for end in ("first", "last")
        for what, v in (("queue", queue), ("reason", "expired"), ("exchange", ""))})


def rejected(ch):
    ch.exchange_declare("py.dlx", "topic", auto_delete=True)
    dead = common.queue(ch)
    ch.queue_bind(dead, "py.dlx", "why.#")
    queue = common.queue(ch, dead_letter_exchange="py.dlx", dead_letter_routing_key="why.not")
    ch.basic_publish("", queue, b"m")
    method, _, _ = ch.basic_get(queue)
    ch.basic_reject(method.delivery_tag, requeue=False)
    (_, method, properties, body), = common.wait(ch, dead, 1)
    common.equal((method.exchange, method.routing_key, body), ("py.dlx", "why.not", b"m"))
    common.equal([(d["reason"], d["count"]) for d in properties.headers["x-death"]], [("rejected", 1)])


def zero(ch):
    queue = common.queue(ch)
    ch.confirm_delivery()
    ch.basic_publish("", queue, b"nobody waits", expiring(0))
    common.equal(common.drain(ch, queue), [])


def queue_ends(ch):
    ch.confirm_delivery()
    began = time.monotonic()
    queue = ch.queue_declare("py.idle", arguments={"x-expires": 250}).method.queue
    try:
        while True:
            ch.basic_publish("", queue, b"is no use", mandatory=True)
            if time.monotonic() - began > common.PATIENCE:
                raise AssertionError("the queue does not end")
    except pika.exceptions.UnroutableError:
        pass
    if time.monotonic() - began < 0.25:
        raise AssertionError("the queue ended early")
    common.refused(404, "NOT_FOUND - no queue 'py.idle' in vhost '/'", ch.queue_declare, queue, passive=True)


def cancelled(ch):
    queue = ch.queue_declare("py.deleted").method.queue
    told = []
    ch.add_on_cancel_callback(lambda frame: told.append(frame.method.consumer_tag))
    ch.basic_consume(queue, lambda *_: None, consumer_tag="mine")
    other = common.connect()
    other.channel().queue_delete(queue)
    other.close()
    end = time.monotonic() + common.PATIENCE
    while not told and time.monotonic() < end:
        ch.connection.process_data_events(time_limit=0.1)
    common.equal(told, ["mine"])


def delayed(ch):
    target = common.queue(ch)
    began = time.monotonic()
    for delay in (300, 150):
        hold = f"py.hold.{delay}"
        ch.queue_declare(hold, arguments={
            "x-message-ttl": delay, "x-expires": delay + 10_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": target})
        ch.basic_publish("", hold, str(delay))
    for at, _, _, body in common.wait(ch, target, 2):
        if at - began < int(body) / 1000:
            raise AssertionError(f"{body} came after {at - began} s")


def signed(long):
    """Restores the sign of a long, which pika decodes as unsigned."""
    return long - (1 << 64) if long >= 1 << 63 else long


def delayed_exchange(ch):
    ch.exchange_declare("py.delayed", "x-delayed-message", auto_delete=True, arguments={"x-delayed-type": "topic"})
    target = common.queue(ch)
    ch.queue_bind(target, "py.delayed", "a.#")
    ch.confirm_delivery()
    began = time.monotonic()
    for delay in (300, 150, 0, -100):
        ch.basic_publish("py.delayed", "a.b", str(delay), pika.BasicProperties(headers={"x-delay": delay}), mandatory=True)
    got = common.wait(ch, target, 4)
    # In any order: on a busy machine a publish may take longer than the delay of an earlier one.
    common.equal({body: signed(properties.headers["x-delay"]) for _, _, properties, body in got},
                {b"0": 0, b"-100": -100, b"150": -150, b"300": -300})
    for at, _, _, body in got:
        if at - began < int(body) / 1000:
            raise AssertionError(f"{body} came after {at - began} s")
    common.refused(406, "Invalid argument, 'x-delayed-type' must be an existing exchange type",
                  ch.exchange_declare, "py.untyped", "x-delayed-message")


def expired_request(ch):
    """A caller over direct reply-to gets the broker's answer when its request expires."""
    queue = common.queue(ch, expired_requests="answer")
    got = []
    ch.basic_consume("amq.rabbitmq.reply-to", lambda _ch, _method, properties, body: got.append((properties, body)), auto_ack=True)
    ch.basic_publish("", queue, b"price?", pika.BasicProperties(reply_to="amq.rabbitmq.reply-to", correlation_id="c1", expiration="50"))
    until = time.monotonic() + common.PATIENCE
    while not got and time.monotonic() < until:
        ch.connection.process_data_events(time_limit=1)
    (properties, body), = got
    common.equal((properties.type, properties.correlation_id, json.loads(body)["error"]), ("candlemark.error", "c1", "expired"))


common.run(any_position, queue_ttl, rejected, zero, queue_ends, cancelled, delayed, delayed_exchange, expired_request)
